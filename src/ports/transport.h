// Sends one HTTP request and reports its outcome. The specification is the tests of
// adapters/asio_http against real sockets; the simulation has an implementation of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/net/target_url.h"

namespace postrider {

struct OutboundRequest {
  TargetUrl url;
  std::string bytes;        // The complete request: head and body.
  Millis timeout{0};        // One deadline for DNS, connect, TLS, write and read.
  std::uint16_t group = 0;  // See Transport::end.
};

/// Connections. Totals since the start, except for `idle`.
struct TransportCounters {
  std::uint64_t idle = 0;  // Kept for reuse.
  std::uint64_t opened = 0;
  std::uint64_t reused = 0;  // Requests sent on a kept connection.
};

/// Used by one io thread: all calls and all `done` callbacks are on that thread unless noted.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Calls `done` exactly once, within the timeout and never from inside `send`. `done` may call
  /// `send` and `stop`. If this server lacks a resource, the outcome has a `shortage`.
  virtual void send(OutboundRequest request, std::function<void(Outcome)> done) = 0;

  /// Replaces the address policy. A forbidden address is neither connected to nor reused any more
  /// (P11). A request that already has a connection is not interrupted.
  virtual void change_addresses(AddressPolicy addresses) = 0;

  /// Ends the active requests of a group with a network failure; every `done` has run when it
  /// returns.
  virtual void end(std::uint16_t group) = 0;

  /// Ends all active requests with a network failure; every `done` has run when `stop` returns.
  /// Later requests fail the same way, asynchronously.
  virtual void stop() = 0;

  /// Any thread.
  [[nodiscard]] virtual TransportCounters counters() const { return {}; }

 protected:
  Transport() = default;
  Transport(const Transport&) = default;
  Transport& operator=(const Transport&) = default;
};

}  // namespace postrider
