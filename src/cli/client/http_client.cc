#include "cli/client/http_client.h"

#include <exception>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>

namespace postrider::cli {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint64_t response_bytes_max = 16ul * 1024 * 1024;

/// One request on its own connection. send_request() catches the exceptions of Asio.
class Exchange {
 public:
  Exchange(asio::io_context& io, const ClientRequest& request)
      : resolver_(io), tls_context_(asio::ssl::context::tls_client), stream_(io, tls_context_) {
    server_ = request.server;
    const std::string prefix = server_.path_and_query == "/" ? "" : server_.path_and_query;
    message_.method_string(request.method);
    message_.target(prefix + request.path);
    message_.version(11);
    message_.set(http::field::host, server_.authority());
    message_.set(http::field::connection, "close");
    for (const auto& [name, value] : request.headers) {
      message_.set(name, value);
    }
    message_.body() = request.body;
    message_.prepare_payload();
    parser_.body_limit(response_bytes_max);
  }

  asio::awaitable<void> run() {
    const std::string port = std::to_string(server_.port);
    auto resolving = resolver_.async_resolve(server_.host, port, asio::use_awaitable);
    const tcp::resolver::results_type found = co_await std::move(resolving);
    auto connecting = asio::async_connect(stream_.next_layer(), found, asio::use_awaitable);
    co_await std::move(connecting);
    if (!server_.tls) {
      auto writing = http::async_write(stream_.next_layer(), message_, asio::use_awaitable);
      co_await std::move(writing);
      auto reading = http::async_read(stream_.next_layer(), buffer_, parser_, asio::use_awaitable);
      co_await std::move(reading);
      co_return;
    }
    set_up_tls();
    auto shaking = stream_.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    co_await std::move(shaking);
    auto writing = http::async_write(stream_, message_, asio::use_awaitable);
    co_await std::move(writing);
    auto reading = http::async_read(stream_, buffer_, parser_, asio::use_awaitable);
    co_await std::move(reading);
  }

  [[nodiscard]] ClientResponse response() {
    return {.status = static_cast<std::uint16_t>(parser_.get().result_int()),
            .body = std::move(parser_.get().body()),
            .date = std::string{parser_.get()[http::field::date]}};
  }

 private:
  void set_up_tls() {
    tls_context_.set_default_verify_paths();
    stream_.set_verify_mode(asio::ssl::verify_peer);
    stream_.set_verify_callback(asio::ssl::host_name_verification{server_.host});
    if (!server_.address) {
      SSL_set_tlsext_host_name(stream_.native_handle(), server_.host.c_str());
    }
  }

  TargetUrl server_;
  tcp::resolver resolver_;
  asio::ssl::context tls_context_;
  asio::ssl::stream<tcp::socket> stream_;
  http::request<http::string_body> message_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

std::string what(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code().message();
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

Result<ClientResponse> send_request(const ClientRequest& request) {
  const std::string where =
      fmt::format("{}://{}", request.server.tls ? "https" : "http", request.server.authority());
  asio::io_context io{1};
  Exchange exchange{io, request};
  bool finished = false;
  std::exception_ptr failure;
  asio::co_spawn(io, exchange.run(), [&](const std::exception_ptr& error) {
    finished = true;
    failure = error;
  });
  io.run_for(request.timeout);
  if (!finished) {
    return fail(Errc::unavailable, fmt::format("{} did not respond in time.", where));
  }
  if (failure) {
    return fail(Errc::unavailable, fmt::format("Cannot connect to {}: {}.", where, what(failure)));
  }
  return exchange.response();
}

}  // namespace postrider::cli
