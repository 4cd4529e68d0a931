#include "adapters/postgres/store/ledger/delivery_changes.h"

#include <algorithm>

#include "ports/settlement_rule.h"

namespace postrider::postgres {

void DeliveryChanges::add(NamedDelivery delivery) {
  delivery.attempts_stored = delivery.delivery.attempt_count;
  places_.emplace(delivery.delivery.id, deliveries_.size());
  deliveries_.push_back(std::move(delivery));
}

NamedDelivery* DeliveryChanges::find(DeliveryId id) {
  const auto place = places_.find(id);
  return place == places_.end() ? nullptr : &deliveries_[place->second];
}

std::vector<DeliveryChanges::AttemptKey> DeliveryChanges::attempts_to_find(
    const std::vector<Settlement>& settlements) const {
  std::vector<AttemptKey> attempts;
  for (const Settlement& settlement : settlements) {
    const auto place = places_.find(settlement.delivery.id);
    if (settlement.attempt && place != places_.end() &&
        settlement.attempt->number <= deliveries_[place->second].attempts_stored) {
      attempts.emplace_back(settlement.delivery.id, settlement.attempt->number);
    }
  }
  return attempts;
}

void DeliveryChanges::settle(const Settlement& settlement) {
  NamedDelivery* const stored = find(settlement.delivery.id);
  if (stored == nullptr) {
    return;
  }
  const SettlementDecision decision = decide_settlement(settlement, stored->delivery);
  if (decision.effect == SettlementEffect::apply) {
    apply(settlement, *stored);
  } else if (decision.effect == SettlementEffect::succeed_cancelled) {
    succeed(settlement, *stored);
  }
  if (settlement.attempt && decision.record_attempt) {
    record_attempt(settlement, *stored);
  }
  if (settlement.attempt && decision.is_last_attempt) {
    const Attempt& attempt = *settlement.attempt;
    stored->delivery.attempt_count = std::max(stored->delivery.attempt_count, attempt.number);
    stored->last_failure = attempt.failure_category;
    stored->last_http_status = attempt.outcome.http_status;
    stored->changed = true;
  }
  if (decision.revived_meanwhile) {
    receipt_.revived_meanwhile.push_back(stored->delivery);
  }
}

void DeliveryChanges::apply(const Settlement& settlement, NamedDelivery& stored) {
  Delivery& delivery = stored.delivery;
  delivery.state = settlement.delivery.state;
  delivery.trigger = settlement.delivery.trigger;
  delivery.due = settlement.delivery.due;
  delivery.attempt_count = settlement.delivery.attempt_count;
  delivery.budget_used = settlement.delivery.budget_used;
  stored.updated_at = settled_at(settlement);
  stored.changed = true;
  if (is_waiting(delivery.state)) {
    return;
  }
  stored.completed_at = stored.updated_at;
  --receipt_.waiting_change[stored.tenant_id][delivery.priority];
  add_settled(stored);
  if (stored.operation) {
    receipt_.outcomes[*stored.operation].add(delivery.state, stored.updated_at);
  }
  if (delivery.state == DeliveryState::dead_letter) {
    stored.dead = settlement.dead;
    stats_.of_tenant(stored.tenant_id, stored.updated_at).dead_letters += 1;
    stats_.of_webhook(delivery.webhook_id, stored.tenant_id, stored.updated_at)
        .tally.dead_letters += 1;
    ++receipt_.dead_letter_changes[stored.tenant_id];
    receipt_.new_dead_letters.push_back(new_dead_letter(settlement, stored.tenant_id));
  }
}

/// A cancelled delivery becomes succeeded.
void DeliveryChanges::succeed(const Settlement& settlement, NamedDelivery& stored) {
  stored.delivery.state = DeliveryState::succeeded;
  stored.dead.reset();
  stored.updated_at = settled_at(settlement);
  stored.completed_at = stored.updated_at;
  stored.changed = true;
  add_settled(stored);
  unsettle(stored.delivery.event_id);
  if (stored.operation) {
    ++receipt_.outcomes[*stored.operation].revised;
  }
}

/// Each attempt number of a delivery is recorded once.
void DeliveryChanges::record_attempt(const Settlement& settlement, NamedDelivery& stored) {
  const Attempt& attempt = *settlement.attempt;
  if (!attempts_stored_.insert({stored.delivery.id, attempt.number}).second) {
    return;
  }
  const auto place = static_cast<std::size_t>(&stored - deliveries_.data());
  attempts_.push_back({.settlement = &settlement, .delivery = place});
  const WallTime at = settled_at(settlement);
  stats_.of_tenant(stored.tenant_id, at).add(attempt);
  stats_.of_webhook(stored.delivery.webhook_id, stored.tenant_id, at).add(attempt);
}

void DeliveryChanges::add_settled(const NamedDelivery& settled) {
  const Delivery& delivery = settled.delivery;
  stats_.of_tenant(settled.tenant_id, *settled.completed_at).add_settled(delivery.state);
  stats_.of_webhook(delivery.webhook_id, settled.tenant_id, *settled.completed_at)
      .tally.add_settled(delivery.state);
}

/// Call before a settled delivery is revived or discarded.
void DeliveryChanges::uncount(const NamedDelivery& settled) {
  const Delivery& delivery = settled.delivery;
  if (!settled.completed_at || delivery.state == DeliveryState::cancelled) {
    return;
  }
  remove_settled(stats_.of_tenant(settled.tenant_id, *settled.completed_at), delivery.state);
  remove_settled(
      stats_.of_webhook(delivery.webhook_id, settled.tenant_id, *settled.completed_at).tally,
      delivery.state);
}

Result<Delivery> DeliveryChanges::revive(const Revive& order) {
  NamedDelivery* const stored = find(order.delivery_id);
  if (stored == nullptr) {
    return fail(Errc::not_found, "There is no such delivery.");
  }
  Delivery& delivery = stored->delivery;
  if (has_changed_since(delivery, order.only_if)) {
    return fail(Errc::conflict, "The delivery has changed since.");
  }
  if (delivery.state == DeliveryState::dead_letter) {
    --receipt_.dead_letter_changes[stored->tenant_id];
  }
  if (is_waiting(delivery.state)) {
    // A revival may change the priority.
    --receipt_.waiting_change[stored->tenant_id][delivery.priority];
  } else {
    uncount(*stored);
    stored->completed_at.reset();
    stored->dead.reset();
    stored->operation = order.operation;
  }
  delivery = revived(std::move(delivery), order);
  ++receipt_.waiting_change[stored->tenant_id][delivery.priority];
  stored->updated_at = order.now;
  stored->changed = true;
  unsettle(delivery.event_id);
  return delivery;
}

Result<Delivery> DeliveryChanges::cancel(const Cancel& order) {
  NamedDelivery* const stored = find(order.delivery_id);
  if (stored == nullptr) {
    return fail(Errc::not_found, "There is no such delivery.");
  }
  Delivery& delivery = stored->delivery;
  if (!may_cancel(delivery, order)) {
    return fail(Errc::conflict, "The delivery is already final.");
  }
  if (delivery.state == DeliveryState::dead_letter) {
    --receipt_.dead_letter_changes[stored->tenant_id];
    uncount(*stored);
    stored->operation.reset();  // It has counted the delivery.
  } else {
    --receipt_.waiting_change[stored->tenant_id][delivery.priority];
    if (stored->operation) {
      receipt_.outcomes[*stored->operation].add(DeliveryState::cancelled, order.now);
    }
  }
  delivery = cancelled(std::move(delivery));
  stored->updated_at = order.now;
  stored->completed_at = order.now;
  stored->changed = true;
  return delivery;
}

}  // namespace postrider::postgres
