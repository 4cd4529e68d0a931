// What one transaction of the store does, and its receipt. Plain structs: the engine decides what
// is in a batch, ports/ledger.h stores it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/audit_entry.h"
#include "core/model/catalog_version.h"
#include "core/model/delivery.h"
#include "core/model/event.h"
#include "core/model/shard_number.h"
#include "core/model/tenant_counts.h"
#include "core/policy/operation_outcome.h"
#include "engine/intake/publish.h"
#include "engine/shard/messages.h"

namespace postrider {

/// The version of a delivery that a change was decided on. If the delivery has changed since, the
/// change fails with conflict, so that repeating it has no effect.
struct DeliveryVersion {
  DeliveryState state = DeliveryState::dead_letter;
  std::uint32_t revivals = 0;
};

[[nodiscard]] inline bool has_changed_since(const Delivery& delivery,
                                            const std::optional<DeliveryVersion>& version) {
  return version && (delivery.state != version->state || delivery.revivals != version->revivals);
}

/// Makes a dead-lettered, cancelled or succeeded delivery pending again, due at once, with a new
/// attempt budget. It keeps its id and its attempts. A waiting delivery keeps its state; it becomes
/// due at once with a new budget too.
struct Revive {
  DeliveryId delivery_id;
  WallTime now;
  std::optional<Priority> priority;  // nullopt: unchanged.
  Trigger trigger = Trigger::manual;
  std::optional<DeliveryVersion> only_if = std::nullopt;
  /// Counts the outcome of a final delivery that is revived. A waiting one stays with the operation
  /// it belongs to, if any.
  std::optional<OperationId> operation = std::nullopt;
};

enum class CancelOf : std::uint8_t {
  waiting,     // Stop retrying.
  dead_letter  // Discard. The history and the reason for the dead letter stay.
};

/// Cancels the delivery if it is in the state that `of` names. Fails with conflict otherwise.
struct Cancel {
  DeliveryId delivery_id;
  WallTime now;
  CancelOf of = CancelOf::waiting;
  std::optional<DeliveryVersion> only_if = std::nullopt;
};

[[nodiscard]] inline bool may_cancel(const Delivery& delivery, const Cancel& cancel) {
  const bool fits = cancel.of == CancelOf::waiting ? is_waiting(delivery.state)
                                                   : delivery.state == DeliveryState::dead_letter;
  return fits && !has_changed_since(delivery, cancel.only_if);
}

/// Adds a late delivery: of an event that is already stored, to a webhook that has no delivery of
/// it. It is queued behind all others.
struct AddLateDelivery {
  Delivery delivery;  // The store assigns the sequence.
  WallTime now;
  std::optional<OperationId> operation = std::nullopt;  // Counts the outcome.
};

/// The audit entry for a revival or a cancel of the same batch, given by its index. Stored if that
/// change succeeds.
struct BatchAudit {
  AuditEntry entry;
  std::optional<std::size_t> revival;
  std::optional<std::size_t> cancel;
};

/// Applied in this order: publishes, settlements, revivals, late_deliveries, cancels, circuits,
/// audits.
struct Batch {
  /// The version of the catalogue that the publishes were planned with, if several nodes share the
  /// store. nullopt: it does not matter.
  std::optional<CatalogVersion> catalog_seen = std::nullopt;
  std::vector<Publish> publishes;
  std::vector<Settlement> settlements;
  std::vector<Revive> revivals;
  std::vector<AddLateDelivery> late_deliveries;
  std::vector<Cancel> cancels;
  std::vector<SaveCircuit> circuits;
  std::vector<BatchAudit> audits;
};

/// The event is stored. Its deliveries carry their assigned sequences.
struct Accepted {
  std::vector<Delivery> deliveries;
  std::uint32_t fanned_out = 0;  // Deliveries that will be made from a note. See Fanout.

  bool operator==(const Accepted&) const = default;
};

/// The idempotency key is in use (the publish's created_at is before the claim's expiry). Nothing
/// was stored for this publish.
struct Duplicate {
  EventId first_id;
  std::uint32_t first_deliveries = 0;
  bool same_body = false;
  bool finished = false;  // No delivery of the first event waits any more, late ones included.

  bool operator==(const Duplicate&) const = default;
};

/// Nothing was stored, because another publish of the same atomic group reused a key with another
/// body. The receipt of that one is a Duplicate without same_body.
struct Refused {
  bool operator==(const Refused&) const = default;
};

/// Nothing was stored, because the catalogue has changed since Batch::catalog_seen: other webhooks
/// may match. Apply the changes and plan the publish again.
struct Outdated {
  bool operator==(const Outdated&) const = default;
};

using PublishReceipt = std::variant<Accepted, Duplicate, Refused, Outdated>;

/// A delivery that became a dead letter, as far as the audit log shows it.
struct NewDeadLetter {
  TenantId tenant_id;
  WebhookId webhook_id;
  DeliveryId delivery_id;
  std::string event_type;
  std::uint32_t attempts = 0;
  std::string reason;
  std::string error;                         // Of the last attempt. Empty if it has none.
  std::optional<std::uint16_t> http_status;  // Of the last attempt.
  WallTime at;

  bool operator==(const NewDeadLetter&) const = default;
};

/// One entry per entry of the batch, in the same order.
struct BatchReceipt {
  std::vector<PublishReceipt> publishes;
  /// Deliveries that will be made from the notes of these publishes, by tenant. No zeros.
  std::map<TenantId, std::uint64_t> fanouts;
  std::vector<Result<Delivery>> revivals;  // The changed delivery; not_found or conflict.
  /// With its sequence; nullopt if the event is unknown or the webhook already has a delivery of
  /// it.
  std::vector<std::optional<Delivery>> late_deliveries;
  std::vector<Result<Delivery>> cancels;  // The changed delivery; not_found or conflict.

  /// Deliveries that had been revived when their settlement was applied, in their current state.
  /// Their lanes may not know about the revival.
  std::vector<Delivery> revived_meanwhile;
  /// The dead letters that settlements made, in their order. The batch also stores the audit
  /// entries that ports/dead_letter_audit.h makes from them.
  std::vector<NewDeadLetter> new_dead_letters;
  /// Change in the number of dead letters, by tenant. No zeros.
  std::map<TenantId, std::int64_t> dead_letter_changes;
  /// Change in the number of waiting deliveries, by the tenant of their events. No zeros.
  TenantCounts waiting_change;
  /// Outcomes of deliveries that belong to operations. Already added to the stored operations.
  OutcomeChanges outcomes;
  /// Shards that another node has taken since: their settlements and circuits were not stored. See
  /// Peers::join.
  std::vector<ShardNumber> lost;
  /// There is something for shards that this node does not hold: their nodes should be woken.
  bool handed_over = false;
};

/// The number of deliveries added by publishes and late_deliveries.
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

/// Adds the deliveries of an accepted publish, all of which wait, to the change.
inline void add_waiting(const Publish& publish, const Accepted& accepted, TenantCounts& change) {
  if (!accepted.deliveries.empty()) {
    PriorityCounts& of_tenant = change[publish.event.tenant_id];
    for (const Delivery& delivery : accepted.deliveries) {
      ++of_tenant[delivery.priority];
    }
  }
}

/// Whether the change that the audit entry describes succeeded.
[[nodiscard]] inline bool audit_applies(const BatchAudit& audit, const BatchReceipt& receipt) {
  return (!audit.revival || receipt.revivals[*audit.revival].has_value()) &&
         (!audit.cancel || receipt.cancels[*audit.cancel].has_value());
}

/// The time of a settlement: the end of its attempt, or the due time if there was no attempt.
[[nodiscard]] inline WallTime settled_at(const Settlement& settlement) {
  if (!settlement.attempt) {
    return settlement.delivery.due;
  }
  const Outcome& outcome = settlement.attempt->outcome;
  return later(outcome.executed_at, std::chrono::duration_cast<Millis>(outcome.duration));
}

[[nodiscard]] inline NewDeadLetter new_dead_letter(const Settlement& settlement,
                                                   TenantId tenant_id) {
  NewDeadLetter dead{.tenant_id = std::move(tenant_id),
                     .webhook_id = settlement.delivery.webhook_id,
                     .delivery_id = settlement.delivery.id,
                     .event_type = settlement.delivery.event_type,
                     .attempts = settlement.delivery.attempt_count,
                     .reason = settlement.dead ? settlement.dead->reason : std::string{},
                     .error = {},
                     .http_status = {},
                     .at = settled_at(settlement)};
  if (settlement.attempt) {
    dead.error = settlement.attempt->outcome.error_message;
    dead.http_status = settlement.attempt->outcome.http_status;
  }
  return dead;
}

}  // namespace postrider
