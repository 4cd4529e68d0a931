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
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>

#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint64_t response_bytes_max = 16ul * 1024 * 1024;
constexpr std::uint64_t health_bytes_max = 64ul * 1024;

using Request = http::request<http::string_body>;
using Parser = http::response_parser<http::string_body>;

Request make_message(const ClientRequest& request, const std::string& method,
                     const std::string& path) {
  const TargetUrl& server = request.server;
  const std::string prefix = server.path_and_query == "/" ? "" : server.path_and_query;
  Request message;
  message.method_string(method);
  message.target(prefix + path);
  message.version(11);
  message.set(http::field::host, server.authority());
  return message;
}

ClientResponse to_response(Parser& parser) {
  return {.status = static_cast<std::uint16_t>(parser.get().result_int()),
          .body = std::move(parser.get().body()),
          .date = std::string{parser.get()[http::field::date]}};
}

/// One request on its own connection. send_request() catches the exceptions of Asio.
class Exchange {
 public:
  Exchange(asio::io_context& io, const ClientRequest& request)
      : io_(io),
        resolver_(io),
        tls_context_(asio::ssl::context::tls_client),
        server_(request.server),
        asks_first_(request.asks_first),
        question_(make_message(request, "GET", "/healthz")),
        message_(make_message(request, request.method, request.path)) {
    message_.set(http::field::connection, "close");
    for (const auto& [name, value] : request.headers) {
      message_.set(name, value);
    }
    message_.body() = request.body;
    message_.prepare_payload();
    parser_.body_limit(response_bytes_max);
    answer_.body_limit(health_bytes_max);
  }

  asio::awaitable<void> run() {
    const std::string port = std::to_string(server_.port);
    auto resolving = resolver_.async_resolve(server_.host, port, asio::use_awaitable);
    found_ = co_await std::move(resolving);
    auto connecting = connect();
    co_await std::move(connecting);
    if (asks_first_) {
      auto asking = round_trip(question_, answer_);
      co_await std::move(asking);
      const bool reusable = answer_.keep_alive();
      health_ = to_response(answer_);
      if (!is_postrider(*health_)) {
        co_return;
      }
      if (!reusable) {
        auto again = connect();
        co_await std::move(again);
      }
    }
    auto sending = round_trip(message_, parser_);
    co_await std::move(sending);
  }

  /// The answer of a server that is not Postrider.
  [[nodiscard]] const ClientResponse* stranger() const {
    return health_ && !is_postrider(*health_) ? &*health_ : nullptr;
  }

  [[nodiscard]] ClientResponse response() { return to_response(parser_); }

 private:
  asio::awaitable<void> connect() {
    stream_.emplace(io_, tls_context_);
    auto connecting = asio::async_connect(stream_->next_layer(), found_, asio::use_awaitable);
    co_await std::move(connecting);
    if (server_.tls) {
      set_up_tls();
      auto shaking = stream_->async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
      co_await std::move(shaking);
    }
  }

  asio::awaitable<void> round_trip(Request& message, Parser& parser) {
    boost::beast::flat_buffer buffer;
    if (server_.tls) {
      auto writing = http::async_write(*stream_, message, asio::use_awaitable);
      co_await std::move(writing);
      auto reading = http::async_read(*stream_, buffer, parser, asio::use_awaitable);
      co_await std::move(reading);
      co_return;
    }
    auto writing = http::async_write(stream_->next_layer(), message, asio::use_awaitable);
    co_await std::move(writing);
    auto reading = http::async_read(stream_->next_layer(), buffer, parser, asio::use_awaitable);
    co_await std::move(reading);
  }

  void set_up_tls() {
    tls_context_.set_default_verify_paths();
    stream_->set_verify_mode(asio::ssl::verify_peer);
    stream_->set_verify_callback(asio::ssl::host_name_verification{server_.host});
    if (!server_.address) {
      SSL_set_tlsext_host_name(stream_->native_handle(), server_.host.c_str());
    }
  }

  asio::io_context& io_;
  tcp::resolver resolver_;
  asio::ssl::context tls_context_;
  TargetUrl server_;
  bool asks_first_;
  tcp::resolver::results_type found_;
  std::optional<asio::ssl::stream<tcp::socket>> stream_;
  Request question_;
  Parser answer_;
  std::optional<ClientResponse> health_;
  Request message_;
  Parser parser_;
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

bool is_postrider(const ClientResponse& health) {
  boost::system::error_code error;
  const boost::json::value body = boost::json::parse(health.body, error);
  return !error && text_at(body, "service") == "postrider";
}

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
  if (const ClientResponse* const stranger = exchange.stranger()) {
    return fail(
        Errc::conflict,
        fmt::format("{} is not a Postrider server: it answered the health check with {} and "
                    "something else. No API key was sent to it.",
                    where, stranger->status));
  }
  return exchange.response();
}

}  // namespace postrider::cli
