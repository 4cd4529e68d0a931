// One request from start to Outcome: take a kept connection, or resolve, check, connect and do the
// TLS handshake; then write and read. A state machine driven by the connection, the resolver and
// the deadline wheel. It ends exactly once and holds a reference to itself until then.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include "ports/clock.h"
#include "ports/transport.h"

#include "adapters/asio_http/connection.h"
#include "adapters/asio_http/connection_pool.h"
#include "adapters/asio_http/deadline_wheel.h"
#include "adapters/asio_http/resolver.h"
#include "adapters/asio_http/response_reader.h"
#include "adapters/asio_http/tls_context.h"

namespace postrider::asio_http {

/// Shared by all exchanges of a transport. Must outlive them.
struct ExchangeContext {
  boost::asio::io_context& io;
  const Clock& clock;
  const CurrentPolicy& policy;
  ConnectionPool& pool;
  Resolver& resolver;
  TlsContext& tls;
  DeadlineWheel& wheel;
  bool lax_responses = false;  // See TransportOptions.
};

struct ActiveTag;
using ActiveHook = boost::intrusive::list_base_hook<boost::intrusive::tag<ActiveTag>, AutoUnlink>;

class Exchange final : public ConnectionUser,
                       public ResolveWaiter,
                       public DeadlineEntry,
                       public ActiveHook {
 public:
  using Done = std::function<void(Outcome)>;

  Exchange(const ExchangeContext& context, OutboundRequest request, Done done);

  /// Call once. `done` is not called from inside start().
  void start();

  /// Instead of start(): fails as stop() does, but calls `done` asynchronously.
  void fail_stopped();

  /// Fails the request unless it has ended. `done` has been called when this returns.
  void stop();

  /// See Transport::end.
  [[nodiscard]] std::uint16_t group() const { return request_.group; }

 private:
  enum class Stage : std::uint8_t {
    resolving,
    connecting,
    handshaking,
    writing,
    awaiting_response,
    reading_response,
    ended,
  };

  void on_resolved(const DnsAnswerPtr& answer) override;
  void on_connected(const error_code& failure) override;
  void on_handshake_done(const error_code& failure) override;
  void on_written(const error_code& failure) override;
  void on_read(const error_code& failure, std::string_view bytes) override;
  void on_deadline() override;

  void open_connection();
  void take_response();
  void use_addresses(const std::vector<IpAddress>& resolved);
  void connect_next();
  bool peer_is_allowed();
  void send_request();
  void take_response_bytes(std::string_view bytes);
  void on_connection_lost(const error_code& failure);
  [[nodiscard]] bool may_retry() const;

  void enter(Stage stage);
  Micros stage_duration(MonoTime now) const;
  void end_complete();
  void end_cut(const error_code& failure);
  void end_not_started(Shortage lacking, std::string sentence);
  void end_failed(FailureCategory category, std::string sentence);
  void end_at_deadline();
  void close_connection();
  void end();
  void report_outcome();

  const ExchangeContext& context_;
  OutboundRequest request_;
  Done done_;
  boost::intrusive_ptr<Exchange> self_;  // Reset when `done` is called.
  Moment started_at_;
  MonoTime deadline_;
  Moment now_;  // Time of the event being handled.
  MonoTime stage_began_;
  Stage stage_ = Stage::resolving;
  bool starting_ = false;  // Inside start(), where `done` must not be called.
  bool reused_ = false;    // The connection comes from the pool.
  bool request_written_ = false;
  ConnectionPtr connection_;
  std::vector<IpAddress> addresses_;  // Not tried yet; the next one is last.
  std::string connect_failure_;       // Error of the last address tried.
  ResponseReader reader_;
  Outcome outcome_;
};

}  // namespace postrider::asio_http
