// What a connection knows besides its socket: the request being read, the answer being written, and
// how long each may take. Belongs to one HttpConnection; runs on its io thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "api/http/answer_buffer.h"
#include "api/http/http.h"
#include "api/http/http_server.h"
#include "api/http/request_parser.h"

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

class ConnectionState {
 public:
  using Step = RequestParser::Step;
  enum class Phase : std::uint8_t { idle, header, body, handling, writing, streaming, lingering };

  ConnectionState(const ConnectionState&) = delete;
  ConnectionState& operator=(const ConnectionState&) = delete;

 protected:
  ConnectionState(std::string remote_ip, ConnectionShared& shared);
  ~ConnectionState();

  /// As far as the input goes.
  Step parse();
  /// The next answer says so, and is the last.
  Step refuse(Problem problem);
  Step refuse_slow();
  void release_body();

  /// Enters the phase that the input is in.
  void await_input();
  void enter(Phase phase);
  [[nodiscard]] std::size_t read_bytes() const;
  [[nodiscard]] bool is_overdue() const { return shared_.tick >= deadline_tick_; }

  void choose_request_id();
  void prepare(HttpResponse response);
  void prepare_refusal();
  /// The next piece of a streamed body; an empty one is the end.
  void prepare_piece(std::string_view piece);
  void prepare_turning_away();
  boost::asio::awaitable<HttpResponse> handle();

  ConnectionShared& shared_;
  boost::beast::flat_buffer input_;
  AnswerBuffer answer_;
  std::shared_ptr<BodyStream> pieces_;  // What comes behind the answer, if there is such a thing.
  Phase phase_ = Phase::idle;
  bool invitation_due_ = false;  // `100 Continue` is to be written before reading on.
  bool last_ = false;            // No request is read after the one under way.

 private:
  bool account_body();
  [[nodiscard]] std::uint64_t deadline_after(std::chrono::milliseconds timeout) const;
  [[nodiscard]] std::chrono::milliseconds timeout_of(Phase phase) const;
  [[nodiscard]] HttpResponse handler_failed(std::string_view what);

  RequestParser parser_;
  std::string remote_ip_;
  std::string request_id_;
  Problem problem_;
  std::size_t accounted_bytes_ = 0;  // Our part of shared_.buffered_bytes.
  std::uint64_t deadline_tick_ = 0;
  std::uint64_t requests_ = 0;
  bool peer_is_trusted_ = false;  // A proxy whose X-Forwarded-For counts.
};

}  // namespace postrider::api
