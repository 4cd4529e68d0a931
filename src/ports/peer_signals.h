// Wakes the other nodes of a cluster when there is something for them in the store. Only a hint:
// nodes also poll the store.
//
// One thread, except for `wake`. Calls block. Has a connection of its own, which is made again
// after it was lost.
#pragma once

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider {

class PeerSignals {
 public:
  virtual ~PeerSignals() = default;

  /// Wakes all other nodes. Costs a lock of the whole database server, so call it once for all that
  /// was stored within a few milliseconds. Fails with unavailable.
  [[nodiscard]] virtual Result<void> signal() = 0;

  /// Waits for at most `max` until another node calls `signal` or a thread of this node calls
  /// `wake`. Returns whether another node has signalled since the last call. Fails with unavailable
  /// as soon as the connection is lost; the next call connects again.
  [[nodiscard]] virtual Result<bool> wait(Millis max) = 0;

  /// False if signals of other nodes cannot be received: the database is behind a connection pool.
  /// Nodes must then poll more often.
  [[nodiscard]] virtual bool is_listening() const = 0;

  /// Ends the current or the next wait. Any thread.
  virtual void wake() = 0;

 protected:
  PeerSignals() = default;
  PeerSignals(const PeerSignals&) = default;
  PeerSignals& operator=(const PeerSignals&) = default;
};

}  // namespace postrider
