// What a settlement, a revival and a cancel do to a stored delivery: the rules for every ledger.
// Pure.
//
// The memory ledger calls these functions. The SQLite ledger states `applies` again in SQL, so that
// the usual case is one UPDATE; settlement_contract.cc compares both ledgers with this file.
#pragma once

#include <cstdint>

#include "core/model/delivery.h"
#include "ports/ledger.h"

namespace postrider {

enum class SettlementEffect : std::uint8_t {
  ignore,             // The delivery is not stored. Nothing happens.
  apply,              // The delivery takes over state, trigger, due time and counts.
  succeed_cancelled,  // A cancelled delivery becomes succeeded: its receiver had accepted it.
  keep,               // The delivery stays as it is.
};

struct SettlementDecision {
  SettlementEffect effect = SettlementEffect::ignore;
  bool record_attempt = false;     // Each attempt number of a delivery is recorded once.
  bool is_last_attempt = false;    // attempt_count, last_failure and last_http_status follow it.
  bool revived_meanwhile = false;  // Report the stored delivery: its lane may not know it.

  bool operator==(const SettlementDecision&) const = default;
};

/// A settlement names its delivery by sequence and id.
[[nodiscard]] inline bool is_same_delivery(const Delivery& stored, const Delivery& settled) {
  return stored.sequence == settled.sequence && stored.id == settled.id;
}

/// The delivery was revived after the attempt began, and the attempt did not succeed: the attempt
/// must not end the new life. A success is what the revival was for, so it counts.
[[nodiscard]] inline bool is_from_earlier_life(const Delivery& stored, const Delivery& settled) {
  return settled.revivals < stored.revivals && settled.state != DeliveryState::succeeded;
}

/// A settlement applies if the stored delivery is the same delivery, waits, has had no later
/// attempts, and the settlement is not from an earlier life.
[[nodiscard]] inline bool applies(const Settlement& settlement, const Delivery& stored) {
  const Delivery& settled = settlement.delivery;
  return is_same_delivery(stored, settled) && is_waiting(stored.state) &&
         stored.attempt_count <= settled.attempt_count && !is_from_earlier_life(stored, settled);
}

[[nodiscard]] inline SettlementDecision decide_settlement(const Settlement& settlement,
                                                          const Delivery& stored) {
  const Delivery& settled = settlement.delivery;
  if (!is_same_delivery(stored, settled)) {
    return {};
  }
  SettlementDecision decision{.effect = SettlementEffect::keep,
                              .record_attempt = settlement.attempt.has_value()};
  if (applies(settlement, stored)) {
    decision.effect = SettlementEffect::apply;
  } else if (stored.state == DeliveryState::cancelled &&
             settled.state == DeliveryState::succeeded && settlement.attempt) {
    decision.effect = SettlementEffect::succeed_cancelled;
  }
  decision.is_last_attempt =
      settlement.attempt && (decision.effect == SettlementEffect::apply ||
                             settlement.attempt->number > stored.attempt_count);
  decision.revived_meanwhile = is_waiting(stored.state) && is_from_earlier_life(stored, settled);
  return decision;
}

/// The delivery after a revival. A final delivery becomes pending, in the operation that revived it
/// if there is one; a waiting one keeps its state and its operation.
[[nodiscard]] inline Delivery revived(Delivery delivery, const Revive& order) {
  if (!is_waiting(delivery.state)) {
    delivery.state = DeliveryState::pending;
    delivery.in_operation = order.operation.has_value();
  }
  delivery.due = order.now;
  delivery.budget_used = 0;
  ++delivery.revivals;
  delivery.trigger = order.trigger;
  delivery.priority = order.priority.value_or(delivery.priority);
  return delivery;
}

/// The delivery after a cancel. A discarded dead letter leaves its operation, which has counted it.
[[nodiscard]] inline Delivery cancelled(Delivery delivery) {
  delivery.in_operation = delivery.in_operation && is_waiting(delivery.state);
  delivery.state = DeliveryState::cancelled;
  return delivery;
}

}  // namespace postrider
