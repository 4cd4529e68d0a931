// The state of a connection apart from its socket: the request being read, the response being
// written, and the deadline of the current phase. Base class of HttpConnection; runs on its io
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "api/http/http.h"
#include "api/http/http_server.h"
#include "api/http/request_parser.h"
#include "api/http/response_buffer.h"

namespace postrider::api {

/// State shared by the connections of one listener.
struct ConnectionShared {
  Handler handler;
  HttpServerOptions options;
  HttpServerCounters counters;
  // Deadlines are counted in ticks of one timer, because a timer per request would be too
  // expensive.
  std::chrono::milliseconds tick_interval{250};
  std::uint64_t tick = 0;
  std::string date;                // As of the last tick.
  std::size_t buffered_bytes = 0;  // Of all request bodies.
  std::uint64_t request_ids_generated = 0;
  bool draining = false;
};

class ConnectionState {
 public:
  using Step = RequestParser::Step;
  enum class Phase : std::uint8_t { idle, header, body, handling, writing, streaming, lingering };

  ConnectionState(const ConnectionState&) = delete;
  ConnectionState& operator=(const ConnectionState&) = delete;

 protected:
  ConnectionState(std::string remote_ip, ConnectionShared& shared);
  ~ConnectionState();

  /// Parses the input that has arrived. Stops at the end of one request.
  Step parse();
  /// Makes `problem` the next response and the last one of this connection.
  Step refuse(Problem problem);
  Step refuse_slow();
  void release_body();

  /// Enters the phase idle, header or body, depending on the input so far.
  void await_input();
  void enter(Phase phase);
  [[nodiscard]] std::size_t read_bytes() const;
  [[nodiscard]] bool is_overdue() const { return shared_.tick >= deadline_tick_; }

  void choose_request_id();
  void prepare(HttpResponse response);
  void prepare_refusal();
  /// Prepares the next piece of a streamed body. An empty piece ends the body.
  void prepare_piece(std::string_view piece);
  /// Prepares the 503 response to a connection over the limit.
  void prepare_rejection();
  boost::asio::awaitable<HttpResponse> handle();

  ConnectionShared& shared_;
  boost::beast::flat_buffer input_;
  ResponseBuffer response_;
  std::shared_ptr<BodyStream> body_stream_;  // Written after response_. Null if not streamed.
  Phase phase_ = Phase::idle;
  bool continue_due_ = false;  // Write `100 Continue` before reading the body.
  bool last_ = false;          // Close the connection after the current response.

 private:
  bool account_body();
  [[nodiscard]] std::uint64_t deadline_after(std::chrono::milliseconds timeout) const;
  [[nodiscard]] std::chrono::milliseconds timeout_of(Phase phase) const;
  [[nodiscard]] HttpResponse handler_failed(std::string_view what);

  RequestParser parser_;
  std::string remote_ip_;
  std::string request_id_;
  Problem problem_;
  std::size_t accounted_bytes_ = 0;  // This connection's part of shared_.buffered_bytes.
  std::uint64_t deadline_tick_ = 0;
  std::uint64_t requests_ = 0;
  bool peer_is_trusted_ = false;  // The peer is a trusted proxy: use its X-Forwarded-For.
};

}  // namespace postrider::api
