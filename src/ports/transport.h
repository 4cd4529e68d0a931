// Sends one HTTP request and reports what came of it. The specification is the transport's own
// tests against real sockets; the simulation has its own implementation.
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
  std::string bytes;  // Head and body, complete.
  Millis timeout{0};  // One deadline for resolve, connect, TLS, write and read.
};

/// Connections, since the start but for `idle`.
struct TransportCounters {
  std::uint64_t idle = 0;  // Kept for reuse.
  std::uint64_t opened = 0;
  std::uint64_t reused = 0;  // Requests that found a connection open.
};

/// Belongs to one io thread; `send` is called and `done` runs on it.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Calls `done` exactly once, later, never from inside `send`, and within the timeout. `done` may
  /// call `send` and `stop`.
  virtual void send(OutboundRequest request, std::function<void(Outcome)> done) = 0;

  /// From now on nothing connects to, or reuses a connection to, what `addresses` forbids (P11).
  /// Requests already on their way are not interrupted.
  virtual void change_addresses(AddressPolicy addresses) = 0;

  /// Ends everything under way at once: each `done` runs, with a network failure, before `stop`
  /// returns. What is sent afterwards fails the same way, later.
  virtual void stop() = 0;

  /// Any thread.
  [[nodiscard]] virtual TransportCounters counters() const { return {}; }

 protected:
  Transport() = default;
  Transport(const Transport&) = default;
  Transport& operator=(const Transport&) = default;
};

}  // namespace postrider
