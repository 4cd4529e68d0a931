// Removes expired events and single deliveries, with everything that depends on them, in one
// transaction.
//
// Other nodes may revive, cancel or settle the same deliveries at the same time. An event is
// removed only if all its deliveries are final and locked. Store thread only.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/policy/retention.h"
#include "ports/retention.h"

#include "adapters/postgres/store/database/writer.h"

namespace postrider::postgres {

/// An event whose row is locked, so that no delivery can be added to it.
struct LockedEvent {
  EventId id;
  WallTime created_at;
  bool is_needed = false;              // By a live idempotency key or a fan-out.
  std::int64_t deliveries_stored = 0;  // Waiting and final, counted after the event was locked.
};

/// A final delivery whose row is locked.
struct LockedDelivery {
  DeliveryId id;
  EventId event_id;
  TenantId tenant_id;
  DeliveryCompletion standing;
  std::optional<WallTime> webhook_removed_at = std::nullopt;
};

/// What a transaction removes.
struct RowsToRemove {
  std::set<EventId> events;
  std::set<DeliveryId> deliveries;
  std::map<TenantId, std::uint64_t> dead_letters;
};

/// Chooses the events to remove. `deliveries` are their deliveries that could be locked.
void choose_events(const std::vector<LockedEvent>& events,
                   const std::vector<LockedDelivery>& deliveries, const RetentionCutoffs& cutoffs,
                   RowsToRemove& rows);
/// Chooses the deliveries to remove without their events.
void choose_single_deliveries(const std::vector<LockedDelivery>& deliveries,
                              const RetentionCutoffs& cutoffs, RowsToRemove& rows);

/// Removes those of `keys` that have expired, in one transaction. Fails with unavailable.
[[nodiscard]] Result<Removed> remove_expired(Writer& writer, const std::vector<ExpiredKey>& keys,
                                             const RetentionCutoffs& cutoffs);

}  // namespace postrider::postgres
