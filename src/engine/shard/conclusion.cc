#include "engine/shard/conclusion.h"

#include <utility>
#include <variant>

#include "core/base/assert.h"

namespace postrider {

Conclusion conclude(const Entry& entry, Outcome outcome, const RetryPolicy& policy,
                    const ConclusionContext& context) {
  POSTRIDER_ASSERT(entry.place == Place::in_flight);
  Conclusion conclusion;
  Delivery& delivery = conclusion.settlement.delivery;
  delivery = entry.delivery;
  ++delivery.attempt_count;
  ++delivery.budget_used;

  const Verdict verdict =
      judge(policy, outcome,
            {.budget_used = delivery.budget_used, .now = context.now, .draw = context.draw});
  conclusion.settlement.attempt = Attempt{.id = context.attempt_id,
                                          .number = delivery.attempt_count,
                                          .trigger = delivery.trigger,
                                          .scheduled_at = delivery.due,
                                          .outcome = {},
                                          .failure_category = categorize(outcome),
                                          .next_retry_at = std::nullopt};
  Attempt& attempt = *conclusion.settlement.attempt;
  attempt.outcome = std::move(outcome);

  if (std::holds_alternative<Succeeded>(verdict)) {
    delivery.state = DeliveryState::succeeded;
    return conclusion;
  }
  if (const auto* give_up = std::get_if<GiveUp>(&verdict)) {
    delivery.state = DeliveryState::dead_letter;
    conclusion.settlement.dead = give_up->why;
    conclusion.disable_webhook = give_up->disable_webhook;
  } else {
    delivery.state = DeliveryState::retrying;
    delivery.due = std::get<RetryAt>(verdict).due;
    delivery.trigger = Trigger::scheduled;  // A person asked for this attempt, not for the next.
    attempt.next_retry_at = delivery.due;
  }
  if (entry.cancelled || entry.delivery.trigger == Trigger::test) {
    delivery.state = DeliveryState::cancelled;
    delivery.due = entry.delivery.due;
    delivery.trigger = entry.delivery.trigger;
    conclusion.settlement.dead.reset();
    attempt.next_retry_at.reset();
  }
  if (entry.revival && !entry.cancelled) {
    revive(conclusion.settlement, *entry.revival);
  }
  return conclusion;
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
