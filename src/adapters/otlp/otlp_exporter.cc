#include "adapters/otlp/otlp_exporter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <mutex>
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

namespace postrider::otlp {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint64_t response_bytes_max = std::uint64_t{64} << 10;

using Request = http::request<http::string_body>;
using Parser = http::response_parser<http::string_body>;

Request make_message(const OtlpOptions& options, std::string body) {
  Request message;
  message.method(http::verb::post);
  message.target(options.endpoint.path_and_query);
  message.version(11);
  message.set(http::field::host, options.endpoint.authority());
  message.set(http::field::content_type, "application/json");
  message.set(http::field::user_agent, fmt::format("Postrider/{} OTLP", options.service.version));
  message.set(http::field::connection, "close");
  for (const auto& [name, value] : options.headers) {
    message.set(name, value.reveal());
  }
  message.body() = std::move(body);
  message.prepare_payload();
  return message;
}

/// One request on its own connection. The caller catches the exceptions of Asio.
class Exchange {
 public:
  Exchange(asio::io_context& io, const TargetUrl& server, Request message)
      : resolver_(io),
        tls_context_(asio::ssl::context::tls_client),
        stream_(io, tls_context_),
        server_(server),
        message_(std::move(message)) {
    parser_.body_limit(response_bytes_max);
  }

  asio::awaitable<void> run() {
    const std::string port = std::to_string(server_.port);
    auto resolving = resolver_.async_resolve(server_.host, port, asio::use_awaitable);
    const tcp::resolver::results_type found = co_await std::move(resolving);
    auto connecting = asio::async_connect(stream_.next_layer(), found, asio::use_awaitable);
    co_await std::move(connecting);
    if (server_.tls) {
      set_up_tls();
      auto shaking = stream_.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
      co_await std::move(shaking);
      auto writing = http::async_write(stream_, message_, asio::use_awaitable);
      co_await std::move(writing);
      auto reading = http::async_read(stream_, buffer_, parser_, asio::use_awaitable);
      co_await std::move(reading);
      co_return;
    }
    auto writing = http::async_write(stream_.next_layer(), message_, asio::use_awaitable);
    co_await std::move(writing);
    auto reading = http::async_read(stream_.next_layer(), buffer_, parser_, asio::use_awaitable);
    co_await std::move(reading);
  }

  [[nodiscard]] const http::response<http::string_body>& response() const { return parser_.get(); }

 private:
  void set_up_tls() {
    tls_context_.set_default_verify_paths();
    stream_.set_verify_mode(asio::ssl::verify_peer);
    stream_.set_verify_callback(asio::ssl::host_name_verification{server_.host});
    if (!server_.address) {
      SSL_set_tlsext_host_name(stream_.native_handle(), server_.host.c_str());
    }
  }

  tcp::resolver resolver_;
  asio::ssl::context tls_context_;
  asio::ssl::stream<tcp::socket> stream_;
  const TargetUrl& server_;
  Request message_;
  boost::beast::flat_buffer buffer_;
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

/// The statuses that the specification of OTLP calls retryable.
bool is_temporary(unsigned status) {
  constexpr std::array<unsigned, 4> temporary = {429, 502, 503, 504};
  return std::ranges::find(temporary, status) != temporary.end();
}

/// 0 if the header is missing or a date.
Millis retry_after(const http::response<http::string_body>& response) {
  const auto text = response[http::field::retry_after];
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc{} ? std::chrono::seconds{seconds} : Millis{0};
}

class OtlpExporter final : public SpanExporter {
 public:
  explicit OtlpExporter(OtlpOptions options) : options_(std::move(options)) {}

  tl::expected<ExportReceipt, ExportFailure> send(std::span<const Span> spans,
                                                  Millis timeout) override {
    asio::io_context io{1};
    Exchange exchange{io, options_.endpoint,
                      make_message(options_, write_request(options_.service, spans))};
    bool finished = false;
    std::exception_ptr failure;
    asio::co_spawn(io, exchange.run(), [&](const std::exception_ptr& error) {
      finished = true;
      failure = error;
    });
    run(io, timeout);
    if (!finished) {
      return fail(fmt::format("{} did not answer in time.", where()));
    }
    if (failure) {
      return fail(fmt::format("Cannot send spans to {}: {}.", where(), what(failure)));
    }
    return read(exchange.response());
  }

  void interrupt() override {
    const std::lock_guard lock{mutex_};
    is_interrupted_ = true;
    if (running_ != nullptr) {
      running_->stop();
    }
  }

 private:
  void run(asio::io_context& io, Millis timeout) {
    {
      const std::lock_guard lock{mutex_};
      if (is_interrupted_) {
        return;
      }
      running_ = &io;
    }
    io.run_for(timeout);
    const std::lock_guard lock{mutex_};
    running_ = nullptr;
  }

  [[nodiscard]] tl::expected<ExportReceipt, ExportFailure> read(
      const http::response<http::string_body>& response) const {
    const unsigned status = response.result_int();
    if (status / 100 == 2) {
      return ExportReceipt{.rejected = read_rejected(response.body())};
    }
    return tl::make_unexpected(
        ExportFailure{.reason = fmt::format("{} answered {}.", where(), status),
                      .retry = is_temporary(status),
                      .retry_after = retry_after(response)});
  }

  [[nodiscard]] std::string where() const {
    return fmt::format("{}://{}", options_.endpoint.tls ? "https" : "http",
                       options_.endpoint.authority());
  }

  static tl::unexpected<ExportFailure> fail(std::string reason) {
    return tl::make_unexpected(ExportFailure{.reason = std::move(reason)});
  }

  OtlpOptions options_;
  std::mutex mutex_;
  asio::io_context* running_ = nullptr;  // Guarded by mutex_, as is the next.
  bool is_interrupted_ = false;
};

}  // namespace

std::unique_ptr<SpanExporter> make_otlp_exporter(OtlpOptions options) {
  return std::make_unique<OtlpExporter>(std::move(options));
}

}  // namespace postrider::otlp
