// For tests: a server on its own thread, and a client that sends raw bytes and reads raw responses.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "api/http/http_server.h"

namespace postrider::api::test {

struct RawResponse {
  std::string head;  // With the blank line. Empty if the connection ended before a response.
  std::string body;

  [[nodiscard]] int status() const { return head.size() < 12 ? 0 : std::stoi(head.substr(9, 3)); }
  [[nodiscard]] bool has(std::string_view header_line) const {
    return head.find("\r\n" + std::string{header_line} + "\r\n") != std::string::npos;
  }
};

class RawClient {
 public:
  explicit RawClient(const boost::asio::ip::tcp::endpoint& endpoint) : socket_(io_) {
    socket_.connect(endpoint);
    const timeval timeout{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  }

  /// Returns false if the connection is closed.
  bool send(std::string_view bytes) {
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(bytes), error);
    return !error;
  }

  RawResponse read_response(bool is_head = false) {
    RawResponse response;
    while (buffer_.find("\r\n\r\n") == std::string::npos) {
      if (!read_more()) {
        return {};
      }
    }
    response.head = buffer_.substr(0, buffer_.find("\r\n\r\n") + 4);
    buffer_.erase(0, response.head.size());
    const std::size_t at = response.head.find("Content-Length: ");
    const std::size_t length =
        at == std::string::npos || is_head ? 0 : std::stoul(response.head.substr(at + 16));
    while (buffer_.size() < length) {
      if (!read_more()) {
        break;
      }
    }
    response.body = buffer_.substr(0, length);
    buffer_.erase(0, response.body.size());
    return response;
  }

  /// Reads until the server closes the connection. Returns "(timeout)" if it does not.
  std::string read_to_end() {
    while (read_more()) {
    }
    return timed_out_ ? "(timeout)" : std::exchange(buffer_, {});
  }

  void finish_sending() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  void close() { socket_.close(); }
  boost::asio::ip::tcp::socket& socket() { return socket_; }

 private:
  bool read_more() {
    char block[16 * 1024];
    const ssize_t bytes = ::recv(socket_.native_handle(), block, sizeof block, 0);
    timed_out_ = bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (bytes <= 0) {
      return false;
    }
    buffer_.append(block, static_cast<std::size_t>(bytes));
    return true;
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  std::string buffer_;
  bool timed_out_ = false;
};

class TestServer {
 public:
  TestServer(Handler handler, HttpServerOptions options) : io_(1), work_(io_.get_executor()) {
    auto server = listen(io_, "127.0.0.1:0", std::move(handler), std::move(options));
    EXPECT_TRUE(server.has_value());
    server_ = *std::move(server);
    endpoint_ = server_->local_endpoint();
    thread_ = std::thread{[this] { io_.run(); }};
  }

  ~TestServer() {
    call([this] { server_.reset(); });
    work_.reset();
    thread_.join();
  }

  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  /// Runs `action` on the server's thread and waits until it has finished.
  void call(std::function<void()> action) {
    std::promise<void> done;
    boost::asio::post(io_, [&] {
      action();
      done.set_value();
    });
    done.get_future().wait();
  }

  HttpServerCounters counters() {
    HttpServerCounters counters;
    call([&] { counters = server_->counters(); });
    return counters;
  }

  std::unique_ptr<RawClient> connect() { return std::make_unique<RawClient>(endpoint_); }
  HttpServer& server() { return *server_; }
  boost::asio::io_context& io() { return io_; }
  const boost::asio::ip::tcp::endpoint& endpoint() const { return endpoint_; }

 private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unique_ptr<HttpServer> server_;
  boost::asio::ip::tcp::endpoint endpoint_;
  std::thread thread_;
};

/// Responds with the method, path and body of the request.
inline boost::asio::awaitable<HttpResponse> echo(HttpRequest request) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.path + " " + request.body;
  co_return response;
}

inline const std::string simple_get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

inline std::string post(const std::string& body, const std::string& headers = "") {
  return "POST /p HTTP/1.1\r\nHost: h\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Long timeouts, so that only the one under test can expire.
inline HttpServerOptions long_timeouts() {
  HttpServerOptions options;
  options.header_timeout = std::chrono::seconds{60};
  options.body_timeout = std::chrono::seconds{60};
  options.write_timeout = std::chrono::seconds{60};
  options.idle_timeout = std::chrono::seconds{60};
  return options;
}

/// Polls until `condition` holds. Returns false after ten seconds.
template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 2'000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return false;
}

}  // namespace postrider::api::test
