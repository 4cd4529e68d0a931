// Where events and deliveries are kept: the durable side of the engine.
//
// The specification is publish_contract.cc, ledger_contract.cc and lane_contract.cc in
// tests/contract; every implementation passes them. Calls block. An instance is used by one thread
// at a time, the store thread. Implementations never read a clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/model/delivery.h"
#include "core/model/event.h"
#include "core/policy/breaker.h"
#include "core/policy/retry.h"
#include "engine/intake/intake.h"
#include "engine/shard/shard.h"
#include "ports/audit.h"

namespace postrider {

/// A delivery as whoever gives an order has seen it. When it has moved on since, the order fails
/// with conflict: an order given twice is carried out once.
struct Seen {
  DeliveryState state = DeliveryState::dead_letter;
  std::uint32_t revivals = 0;
};

/// A dead-lettered, cancelled or succeeded delivery goes back in line as pending, due at once, with
/// a fresh budget. Its attempts and its id stay. A waiting one keeps its state; it too becomes due
/// at once with a fresh budget.
struct Revive {
  DeliveryId delivery_id;
  WallTime now;
  std::optional<Priority> priority;  // nullopt: as it was.
  Trigger trigger = Trigger::manual;
  std::optional<Seen> only_if = std::nullopt;
};

enum class CancelOf : std::uint8_t {
  waiting,     // Stop retrying.
  dead_letter  // Discard: its history and the reason of its death stay.
};

/// The delivery is cancelled when it is what `of` says. Fails with conflict otherwise.
struct Cancel {
  DeliveryId delivery_id;
  WallTime now;
  CancelOf of = CancelOf::waiting;
  std::optional<Seen> only_if = std::nullopt;
};

[[nodiscard]] inline bool has_moved_on(const Delivery& delivery, const std::optional<Seen>& seen) {
  return seen && (delivery.state != seen->state || delivery.revivals != seen->revivals);
}

[[nodiscard]] inline bool may_cancel(const Delivery& delivery, const Cancel& order) {
  const bool fits = order.of == CancelOf::waiting ? is_waiting(delivery.state)
                                                  : delivery.state == DeliveryState::dead_letter;
  return fits && !has_moved_on(delivery, order.only_if);
}

/// A late delivery: of an event that is stored already, to a webhook that has none for it. It goes
/// to the end of the line.
struct AddLateDelivery {
  Delivery delivery;  // The sequence is the store's to give.
  WallTime now;
};

/// The audit log's entry for a revival or cancel of the same batch, named by its place there.
/// Stored when that one succeeds.
struct BatchAudit {
  AuditEntry entry;
  std::optional<std::size_t> revival;
  std::optional<std::size_t> cancel;
};

/// What one transaction does. Order within a batch: publishes, settlements, revivals,
/// late_deliveries, cancels, circuits, audits.
struct Batch {
  std::vector<Publish> publishes;
  std::vector<Settlement> settlements;
  std::vector<Revive> revivals;
  std::vector<AddLateDelivery> late_deliveries;
  std::vector<Cancel> cancels;
  std::vector<SaveCircuit> circuits;
  std::vector<BatchAudit> audits;
};

/// The event is stored; its deliveries carry the sequences they were given.
struct Accepted {
  std::vector<Delivery> deliveries;

  bool operator==(const Accepted&) const = default;
};

/// The key was used before, within its life (the publish's created_at is before the claim's
/// expiry). Nothing was stored for this publish.
struct Duplicate {
  EventId first_id;
  std::uint32_t first_deliveries = 0;
  bool same_body = false;
  bool finished = false;  // No delivery of the first event, late ones included, waits any more.

  bool operator==(const Duplicate&) const = default;
};

/// Nothing was stored, because another publish of the same atomic group reused a key with another
/// body; that one's receipt is the Duplicate without same_body.
struct Refused {
  bool operator==(const Refused&) const = default;
};

using PublishReceipt = std::variant<Accepted, Duplicate, Refused>;

/// One entry per entry of the batch, in its order.
struct BatchReceipt {
  std::vector<PublishReceipt> publishes;
  std::vector<Result<Delivery>> revivals;  // not_found, conflict, or the delivery as it now is.
  /// With its sequence; none when the event is unknown or the webhook has a delivery of it already.
  std::vector<std::optional<Delivery>> late_deliveries;
  std::vector<Result<Delivery>> cancels;  // not_found, conflict.

  /// Deliveries that a settlement found revived, as they now are: their lanes may not know.
  std::vector<Delivery> revived_meanwhile;
  /// How many dead letters more, or fewer when negative, each tenant has now; no zeros.
  std::map<TenantId, std::int64_t> dead_letter_changes;
  /// How many deliveries more, or fewer when negative, wait now.
  std::int64_t waiting_change = 0;
};

/// Deliveries of the batch's publishes and late_deliveries that were stored; all of them wait.
[[nodiscard]] inline std::int64_t count_added(const BatchReceipt& receipt) {
  std::int64_t added = 0;
  for (const PublishReceipt& publish : receipt.publishes) {
    if (const Accepted* accepted = std::get_if<Accepted>(&publish)) {
      added += std::ssize(accepted->deliveries);
    }
  }
  for (const std::optional<Delivery>& late : receipt.late_deliveries) {
    added += late ? 1 : 0;
  }
  return added;
}

/// Did what the entry tells of happen?
[[nodiscard]] inline bool is_true(const BatchAudit& audit, const BatchReceipt& receipt) {
  return (!audit.revival || receipt.revivals[*audit.revival].has_value()) &&
         (!audit.cancel || receipt.cancels[*audit.cancel].has_value());
}

/// When a settlement happened: at the end of its attempt; without one, when the delivery is due.
[[nodiscard]] inline WallTime settled_at(const Settlement& settlement) {
  if (!settlement.attempt) {
    return settlement.delivery.due;
  }
  const Outcome& outcome = settlement.attempt->outcome;
  return later(outcome.executed_at, std::chrono::duration_cast<Millis>(outcome.duration));
}

/// Sorted by (priority, due, sequence) with Ordering::none, by sequence otherwise.
struct LanePage {
  std::vector<Delivery> deliveries;
  /// See LaneLoaded. With order, the first of its line that was left out decides: those behind it
  /// cannot go earlier.
  std::optional<WallTime> rest_due;

  bool operator==(const LanePage&) const = default;
};

/// One page of a per_event_type lane covers at most so many types, those whose heads are due first:
/// enough to keep every slot of a webhook busy, and a lane with thousands of types is read in
/// parts.
constexpr std::size_t lane_types_max = 64;

struct LaneBacklog {
  WebhookId webhook_id;
  WallTime due;                          // The earliest.
  std::optional<WallTime> last_attempt;  // When one was last made.

  bool operator==(const LaneBacklog&) const = default;
};

/// The clock was set back since the lane was written: its times are of no use (P9). A first attempt
/// is due when its event was published.
[[nodiscard]] inline bool is_from_the_future(const LaneBacklog& lane, WallTime now) {
  return lane.last_attempt.value_or(lane.due) > now;
}

/// How far a walk through the waiting deliveries of a webhook has come.
struct LanePlace {
  Priority priority = Priority::high;
  WallTime due;
  std::int64_t sequence = 0;

  bool operator==(const LanePlace&) const = default;
};

/// The retry policy or the clock changed: the deliveries that wait become due when `due_under`
/// says.
struct BringForward {
  WebhookId webhook_id;
  RetryPolicy policy;
  WallTime now;                    // Steady wall time.
  std::optional<LanePlace> after;  // Where the last step ended.
  std::uint32_t limit = 0;         // How many to look at.
};
struct BroughtForward {
  std::vector<Delivery> moved;    // As they now are.
  std::optional<LanePlace> next;  // None: that was all, and the webhook is not marked any more.
};

class Ledger {
 public:
  virtual ~Ledger() = default;

  /// All of the batch or none of it; returns once it is on disk (P1). Publishes with the same live
  /// idempotency key, also within one batch, give one Accepted and Duplicates (P3). A settlement
  /// takes over state, due time, trigger and counts, unless the delivery is final already, has had
  /// later attempts, or was revived after the attempt began and the attempt did not succeed: then
  /// only the attempt is recorded. The same attempt number twice is recorded once. A settlement
  /// finds its delivery by sequence and id; those of unknown deliveries and the circuits of unknown
  /// webhooks are ignored. Fails with unavailable; whether the batch is stored is then unknown
  /// until `recover` succeeded. Fails with corrupt when the store is damaged.
  [[nodiscard]] virtual Result<BatchReceipt> commit(const Batch& batch) = 0;

  /// After a failed commit: opens the store anew. Until it succeeds every call fails with
  /// unavailable.
  [[nodiscard]] virtual Result<void> recover() = 0;

  /// The waiting deliveries that come first; see LoadLane for which.
  [[nodiscard]] virtual Result<LanePage> load_lane(const LoadLane& query) = 0;

  /// Which webhooks have waiting deliveries, and when the first of each is due. In id order. Does
  /// not read them all.
  [[nodiscard]] virtual Result<std::vector<LaneBacklog>> backlog() = 0;

  /// One step, in one transaction; what is due already is passed over. See
  /// Catalog::mark_rescheduling.
  [[nodiscard]] virtual Result<BroughtForward> bring_forward(const BringForward& order) = 0;

  /// How many deliveries wait. Walks their index: for the start and after a failure, when nobody
  /// has counted along.
  [[nodiscard]] virtual Result<std::uint64_t> count_waiting() = 0;

  /// Events by id, in the order asked for, for payloads that left the cache. Missing ones are left
  /// out.
  [[nodiscard]] virtual Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) = 0;

 protected:
  Ledger() = default;
  Ledger(const Ledger&) = default;
  Ledger& operator=(const Ledger&) = default;
};

}  // namespace postrider
