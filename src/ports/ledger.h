// The durable store of events and deliveries.
//
// The specification is publish_contract.cc, ledger_contract.cc and lane_contract.cc in
// tests/contract; every implementation passes them. Calls block. Store thread only. Implementations
// never read a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/delivery.h"
#include "core/model/event.h"
#include "core/policy/breaker.h"
#include "core/policy/retry.h"
#include "engine/batch.h"
#include "engine/shard/messages.h"

namespace postrider {

/// Sorted by (priority, due, sequence) with Ordering::none, by sequence otherwise.
struct LanePage {
  std::vector<Delivery> deliveries;
  /// See LaneLoaded. With an order, this is the due time of the first delivery of a line that was
  /// left out: those behind it cannot start earlier.
  std::optional<WallTime> rest_due;

  bool operator==(const LanePage&) const = default;
};

/// One page of a per_event_type lane covers at most this many types, those whose first deliveries
/// are due first. Enough to fill every slot of a webhook; a lane with thousands of types is read in
/// parts.
constexpr std::size_t lane_types_max = 64;

struct LaneBacklog {
  WebhookId webhook_id;
  WallTime due;                          // The earliest.
  std::optional<WallTime> last_attempt;  // The time of the latest attempt.

  bool operator==(const LaneBacklog&) const = default;
};

/// The clock was set back since the lane was written, so its times cannot be used (P9). A first
/// attempt is due at the time its event was published.
[[nodiscard]] inline bool is_from_the_future(const LaneBacklog& lane, WallTime now) {
  return lane.last_attempt.value_or(lane.due) > now;
}

/// A position in the waiting deliveries of a webhook.
struct LaneCursor {
  Priority priority = Priority::high;
  WallTime due;
  std::int64_t sequence = 0;

  bool operator==(const LaneCursor&) const = default;
};

/// The retry policy or the clock changed: waiting deliveries become due at the time `due_under`
/// returns.
struct BringForward {
  WebhookId webhook_id;
  RetryPolicy policy;
  WallTime now;                     // Steady wall time.
  std::optional<LaneCursor> after;  // Where the last step ended.
  std::uint32_t limit = 0;          // Deliveries to examine.
};
struct BroughtForward {
  std::vector<Delivery> moved;     // In their new state.
  std::optional<LaneCursor> next;  // nullopt: finished, and the webhook's mark is removed.
};

/// Makes deliveries from the notes of one tenant's events (Publish::fanout), in publish order.
struct FanOutStep {
  TenantId tenant_id;
  std::uint32_t limit = 0;                // Deliveries to make or leave out.
  WallTime now;                           // The deliveries' created_at.
  WallTime due_max;                       // Steady time, at which the deliveries must be due.
  std::function<bool(WebhookId)> exists;  // False: the webhook was removed. It gets no delivery.
  std::function<DeliveryId()> new_id;
};
struct FannedOut {
  struct Part {
    Event event;
    std::vector<Delivery> deliveries;  // Of this step.
  };
  std::vector<Part> parts;     // Ends early if the events are large.
  std::uint64_t left_out = 0;  // Webhooks that were removed.
  bool finished = false;       // The tenant has no note left.
  bool handed_over = false;    // See BatchReceipt::handed_over.
};

/// A step holds about this much payload in memory at most, and one event.
constexpr std::size_t fan_out_bytes_max = 4u << 20;

class Ledger {
 public:
  virtual ~Ledger() = default;

  /// Stores all of the batch or none of it, and returns once it is on disk (P1).
  ///
  /// A publish with a fanout stores the event and a note, from which `fan_out` makes the
  /// deliveries. So does an ordered publish while its tenant has a note: the note is behind it. A
  /// late delivery to a webhook that a note still has to reach is ignored.
  ///
  /// Publishes with the same live idempotency key, also within one batch, give one Accepted and
  /// Duplicates (P3). A publish with a row is tracked: see ports/source_rows.h. A settlement sets
  /// state, due time, trigger and counts, unless the delivery is already final, has had later
  /// attempts, or was revived after the attempt began and the attempt did not succeed: then only
  /// the attempt is recorded. The same attempt number is recorded once. A settlement finds its
  /// delivery by sequence and id. Settlements of unknown deliveries and circuits of unknown
  /// webhooks are ignored. New dead letters are audited in the same transaction: see
  /// ports/dead_letter_audit.h. A circuit's open period is identified by its start; a later save of
  /// it replaces its end.
  ///
  /// Fails with unavailable; whether the batch is stored is then unknown until `recover` succeeds.
  /// Fails with corrupt if the store is damaged.
  [[nodiscard]] virtual Result<BatchReceipt> commit(const Batch& batch) = 0;

  /// Reopens the store after a failed commit. Until it succeeds, every call fails with unavailable.
  [[nodiscard]] virtual Result<void> recover() = 0;

  /// Reads the first waiting deliveries of a webhook; see LoadLane.
  [[nodiscard]] virtual Result<LanePage> load_lane(const LoadLane& query) = 0;

  /// The webhooks with waiting deliveries, in id order. Does not read every delivery.
  [[nodiscard]] virtual Result<std::vector<LaneBacklog>> backlog() = 0;

  /// The webhook's recorded attempts that `which` selects, oldest first; attempts before one that
  /// retention has removed are left out. Reads no other attempts.
  [[nodiscard]] virtual Result<std::vector<PastCall>> recent_calls(WebhookId id,
                                                                   const CallsToRestore& which) = 0;

  /// Performs one step in one transaction. Deliveries that are already due are skipped. See
  /// Catalog::mark_rescheduling. Fails with conflict, and keeps the mark, if this node does not
  /// hold the webhook's shard; see Peers::join.
  [[nodiscard]] virtual Result<BroughtForward> bring_forward(const BringForward& order) = 0;

  /// Performs one step in one transaction. The deliveries of an event come behind all others, like
  /// late ones, and those of the tenant's next event follow them. A note that is finished is
  /// removed.
  [[nodiscard]] virtual Result<FannedOut> fan_out(const FanOutStep& step) = 0;

  /// The number of deliveries that are still to be made from notes, by tenant. No zeros. For
  /// startup and recovery; after that BatchReceipt::fanouts and fan_out tell.
  [[nodiscard]] virtual Result<std::map<TenantId, std::uint64_t>> open_fanouts() = 0;

  /// The number of waiting deliveries, by the tenant of their events. Scans their index: for
  /// startup and recovery only, after that BatchReceipt::waiting_change is added up. A node that
  /// shares the store asks History::waiting_counts instead.
  [[nodiscard]] virtual Result<TenantCounts> count_waiting() = 0;

  /// Events by id, in the given order, for payloads that are no longer cached. Missing events are
  /// left out.
  [[nodiscard]] virtual Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) = 0;

 protected:
  Ledger() = default;
  Ledger(const Ledger&) = default;
  Ledger& operator=(const Ledger&) = default;
};

}  // namespace postrider
