#include "engine/shard/attempt_settlement.h"

#include <utility>
#include <variant>

#include "core/base/assert.h"

namespace postrider {

AttemptSettlement settle_attempt(const Entry& entry, Outcome outcome, const RetryPolicy& policy,
                                 const SettlementContext& context) {
  POSTRIDER_ASSERT(entry.stage == EntryStage::in_flight);
  AttemptSettlement settled;
  Delivery& delivery = settled.settlement.delivery;
  delivery = entry.delivery;
  ++delivery.attempt_count;
  ++delivery.budget_used;

  const RetryDecision decision =
      decide_retry(policy, outcome,
                   {.budget_used = delivery.budget_used, .now = context.now, .draw = context.draw});
  settled.settlement.attempt = Attempt{.id = context.attempt_id,
                                       .number = delivery.attempt_count,
                                       .trigger = delivery.trigger,
                                       .scheduled_at = delivery.due,
                                       .outcome = {},
                                       .failure_category = categorize(outcome),
                                       .next_retry_at = std::nullopt};
  Attempt& attempt = *settled.settlement.attempt;
  attempt.outcome = std::move(outcome);

  if (std::holds_alternative<Succeeded>(decision)) {
    delivery.state = DeliveryState::succeeded;
    return settled;
  }
  if (const auto* give_up = std::get_if<GiveUp>(&decision)) {
    delivery.state = DeliveryState::dead_letter;
    settled.settlement.dead = give_up->why;
    settled.disable_webhook = give_up->disable_webhook;
  } else {
    delivery.state = DeliveryState::retrying;
    delivery.due = std::get<RetryAt>(decision).due;
    delivery.trigger = Trigger::scheduled;  // A user requested this attempt, not the next.
    attempt.next_retry_at = delivery.due;
  }
  if (entry.cancelled || entry.delivery.trigger == Trigger::test) {
    delivery.state = DeliveryState::cancelled;
    delivery.due = entry.delivery.due;
    delivery.trigger = entry.delivery.trigger;
    settled.settlement.dead.reset();
    attempt.next_retry_at.reset();
  }
  if (entry.revival && !entry.cancelled) {
    revive(settled.settlement, *entry.revival);
  }
  return settled;
}

void revive(Settlement& settlement, const Revival& revival) {
  Delivery& delivery = settlement.delivery;
  if (delivery.state == DeliveryState::succeeded) {
    return;
  }
  delivery.state = DeliveryState::retrying;
  delivery.due = revival.due;
  delivery.priority = revival.priority;
  delivery.trigger = revival.trigger;
  delivery.budget_used = 0;
  delivery.revivals = revival.revivals;
  settlement.dead.reset();
  if (settlement.attempt) {
    settlement.attempt->next_retry_at = revival.due;
  }
}

}  // namespace postrider
