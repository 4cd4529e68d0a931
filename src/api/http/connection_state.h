// The state of a connection apart from its socket: the request being read, the response being
// written, and the deadline of the current phase. Base class of HttpConnection; runs on its io
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <tl/expected.hpp>

#include "core/policy/shares.h"

#include "api/http/head_check.h"
#include "api/http/http.h"
#include "api/http/http_server.h"
#include "api/http/request_parser.h"
#include "api/http/request_watch.h"
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
  std::string date;         // As of the last tick.
  Shares extra_shares{{}};  // The connections over a limit.
  Shares body_shares{{}};   // In bytes: the memory for request bodies.
  std::uint64_t request_ids_generated = 0;
  bool draining = false;
};

class ConnectionState {
 public:
  enum class Step : std::uint8_t {
    need_more,  // Read more input and parse again.
    recheck,    // Call recheck_head().
    done,       // The request is complete.
    refused,    // See refuse().
  };
  enum class Phase : std::uint8_t { idle, header, body, handling, writing, streaming, lingering };

  ConnectionState(const ConnectionState&) = delete;
  ConnectionState& operator=(const ConnectionState&) = delete;

 protected:
  ConnectionState(std::string remote_ip, ConnectionShared& shared);
  ~ConnectionState();

  /// The connection is over a limit: its first request must have a valid key, whose owner must have
  /// a place for further connections. Call before the first request.
  void require_key();
  /// Parses the input that has arrived. Stops at the end of one request.
  Step parse();
  /// Decides about the request's body once more, after a wait. Returns every step but `recheck`.
  boost::asio::awaitable<Step> recheck_head();
  /// Makes `problem` the next response and the last one of this connection.
  Step refuse(Problem problem);
  Step refuse_slow();
  /// Returns the memory of the request's body. Call after its response.
  void end_request();

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
  boost::asio::awaitable<HttpResponse> handle();
  /// Tells the observer about the request. Call when its response was written, or cannot be.
  void report_request(bool is_whole);

  ConnectionShared& shared_;
  boost::beast::flat_buffer input_;
  ResponseBuffer response_;
  std::shared_ptr<BodyStream> body_stream_;  // Written after response_. Null if not streamed.
  Phase phase_ = Phase::idle;
  bool continue_due_ = false;  // Write `100 Continue` before reading the body.
  bool last_ = false;          // Close the connection after the current response.
  bool key_required_ = false;  // See require_key(). False again once there was one.

 private:
  /// Decides whether the request's body is read. Runs once per request, and only if its body did
  /// not arrive together with its header or the connection is over a limit.
  Step check_head();
  Step apply_decision(const tl::expected<BodyPermit, Problem>& decided);
  /// Continues with a request whose body may be read.
  Step take_body();
  /// Takes memory for the body: all of it if its length is known, otherwise what has arrived.
  [[nodiscard]] bool take_body_share();
  /// Takes a place for this connection, which is over a limit.
  [[nodiscard]] bool take_extra_place(const ShareOwner& owner);
  [[nodiscard]] std::string client_ip(const HttpRequest& request) const;
  Step refused_by_share(ShareVerdict verdict);
  [[nodiscard]] std::uint64_t deadline_after(std::chrono::milliseconds timeout) const;
  [[nodiscard]] std::chrono::milliseconds timeout_of(Phase phase) const;
  [[nodiscard]] HttpResponse handler_failed(std::string_view what);

  RequestParser parser_;
  RequestWatch watch_;
  std::string remote_ip_;
  std::string request_id_;
  Problem problem_;
  ShareOwner body_owner_;                  // Whose share the body uses. Valid if head_checked_.
  std::optional<ShareOwner> extra_owner_;  // Holds one of shared_.extra_shares.
  std::size_t body_share_bytes_ = 0;       // Held of that share.
  std::uint64_t deadline_tick_ = 0;
  std::uint64_t requests_ = 0;
  bool head_checked_ = false;     // The current request's body may be read.
  bool is_whole_ = false;         // Its body has arrived.
  bool peer_is_trusted_ = false;  // The peer is a trusted proxy: use its X-Forwarded-For.
};

}  // namespace postrider::api
