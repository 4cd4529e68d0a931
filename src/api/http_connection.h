// One client's connection: reads requests, has them handled one after the other, writes the answers
// in order. Private to the HTTP server; runs on its io thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "api/http.h"
#include "api/http_server.h"
#include "api/request_parser.h"

namespace postrider::api {

/// What the connections of one listener share.
struct ConnectionShared {
  Handler handler;
  HttpServerOptions options;
  HttpServerCounters counters;
  // Deadlines are counted in ticks of one timer: arming a kernel timer per request would cost more
  // than the request.
  std::chrono::milliseconds tick_interval{250};
  std::uint64_t tick = 0;
  std::string date;  // As of the last tick.
  std::size_t buffered_bytes = 0;
  std::uint64_t ids_made = 0;
  bool draining = false;
};

class HttpConnection {
 public:
  HttpConnection(boost::asio::ip::tcp::socket socket, ConnectionShared& shared);

  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Ends when the connection has. `this` and `shared` must outlive it.
  boost::asio::awaitable<void> serve();

  /// Answers 503 to whatever is asked, and closes.
  boost::asio::awaitable<void> turn_away();

  /// Ends what has taken too long.
  void on_tick();

  /// Closes if no request is under way; otherwise the next answer is the last.
  void drain();

  void close();

 private:
  using Step = RequestParser::Step;
  enum class Phase : std::uint8_t { idle, header, body, handling, writing, streaming, lingering };

  Step parse();
  Step refuse(Problem problem);
  void invite_body();
  bool account_body();
  void release_body();

  void await_input();
  void enter(Phase phase);
  [[nodiscard]] std::uint64_t deadline_after(std::chrono::milliseconds timeout) const;
  [[nodiscard]] std::chrono::milliseconds timeout_of(Phase phase) const;
  [[nodiscard]] std::size_t read_bytes() const;
  [[nodiscard]] bool is_overdue(boost::system::error_code error) const;

  void choose_request_id();
  void prepare(HttpResponse response);
  [[nodiscard]] std::array<boost::asio::const_buffer, 2> unwritten() const;
  bool write_at_once();
  [[nodiscard]] HttpResponse handler_failed(std::string_view what);

  boost::asio::awaitable<HttpResponse> handle();
  boost::asio::awaitable<bool> flush();
  boost::asio::awaitable<bool> relay();
  boost::asio::awaitable<void> linger();

  boost::asio::ip::tcp::socket socket_;
  ConnectionShared& shared_;
  RequestParser parser_;
  boost::beast::flat_buffer input_;
  std::string output_;                  // A response's head, and its body when that is small.
  std::string large_body_;              // Written behind output_ without being copied into it.
  std::size_t written_bytes_ = 0;       // Of both.
  std::shared_ptr<BodyStream> stream_;  // What comes behind both, while there is such a thing.
  std::string remote_ip_;
  std::string request_id_;
  Problem problem_;
  std::size_t accounted_bytes_ = 0;  // Our part of shared_.buffered_bytes.
  std::uint64_t deadline_tick_ = 0;
  std::uint64_t requests_ = 0;
  Phase phase_ = Phase::idle;
  bool last_ = false;    // No request is read after the one under way.
  bool closed_ = false;  // By us, from outside the coroutine.
};

}  // namespace postrider::api
