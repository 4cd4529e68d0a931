// Publishes what a committed batch did to deliveries to the live stream.
#pragma once

#include <vector>

#include "engine/intake/directory.h"
#include "ports/clock.h"
#include "ports/ledger.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/observability/stream_hub.h"

namespace postrider {

/// New deliveries, settlements, revivals and cancellations. Apart from publishes, deliveries of a
/// webhook that is not in the directory are left out: their tenant is unknown, and an event must
/// not reach another tenant (P11).
[[nodiscard]] std::vector<StreamEvent> stream_events_of(const Batch& batch,
                                                        const BatchReceipt& receipt,
                                                        const Directory& directory, WallTime now);

/// Store thread.
class BatchStreamPublisher {
 public:
  /// All parameters must outlive this object.
  BatchStreamPublisher(StreamHub& hub, const AdminChanges& changes, const Clock& clock)
      : hub_(hub), changes_(changes), clock_(clock) {}

  /// Call after the batch is committed, before it is answered.
  void publish(const Batch& batch, const BatchReceipt& receipt);
  /// Call after a step of a fan-out is committed.
  void publish(const FannedOut& made);

 private:
  StreamHub& hub_;
  const AdminChanges& changes_;
  const Clock& clock_;
};

}  // namespace postrider
