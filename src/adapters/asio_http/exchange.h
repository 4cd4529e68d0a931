// One request on its way: reuse a connection or resolve, check, connect, shake hands; write; read;
// and end exactly once, in an Outcome. A state machine driven by the connection, the resolver and
// the deadline wheel; it keeps itself alive until it has ended.
#pragma once

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

/// What all exchanges of a transport share. Outlives them.
struct ExchangeContext {
  boost::asio::io_context& io;
  const Clock& clock;
  const PolicyInForce& policy;
  ConnectionPool& pool;
  Resolver& resolver;
  TlsContext& tls;
  DeadlineWheel& wheel;
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

  /// To be called once. `done` is not called from inside it.
  void start();

  /// Instead of start(): ends it as stop() does, but `done` is called later.
  void refuse();

  /// Ends it, if need be, and calls `done` before returning.
  void stop();

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
  void on_handshaken(const error_code& failure) override;
  void on_written(const error_code& failure) override;
  void on_read(const error_code& failure, std::string_view bytes) override;
  void on_deadline() override;

  void start_fresh();
  void use_addresses(const std::vector<IpAddress>& resolved);
  void connect_next();
  bool peer_is_allowed();
  void send_request();
  void take_response_bytes(std::string_view bytes);
  void on_peer_gone(const error_code& failure);
  [[nodiscard]] bool may_try_again() const;

  void enter(Stage stage);
  Micros stage_duration(MonoTime now) const;
  void end_complete();
  void end_failed(FailureCategory category, std::string sentence);
  void end_at_deadline();
  void let_go_of_connection();
  void end();
  void deliver();

  const ExchangeContext& context_;
  OutboundRequest request_;
  Done done_;
  boost::intrusive_ptr<Exchange> self_;  // Until delivered.
  Moment started_at_;
  MonoTime deadline_;
  Moment now_;  // When the event being handled came.
  MonoTime stage_began_;
  Stage stage_ = Stage::resolving;
  bool starting_ = false;  // Inside start(), where `done` must not be called.
  bool reused_ = false;    // The connection has carried an earlier request.
  bool wrote_all_ = false;
  ConnectionPtr connection_;
  std::vector<IpAddress> addresses_;  // Still to be tried, next one last.
  std::string connect_failure_;       // Of the last address tried.
  ResponseReader reader_;
  Outcome outcome_;
};

}  // namespace postrider::asio_http
