#include "core/policy/retention.h"

#include <algorithm>

namespace postrider {
namespace {

std::optional<WallTime> cutoff(Millis age, WallTime now) {
  return age > Millis{0} ? std::optional{now - age} : std::nullopt;
}

}  // namespace

RetentionCutoffs cutoffs_at(const RetentionAges& ages, WallTime now) {
  return {.now = now,
          .events = cutoff(ages.events, now),
          .dead_letters = cutoff(ages.dead_letters, now),
          .removed_webhooks = cutoff(ages.removed_webhooks, now)};
}

bool dead_letter_is_expired(const DeliveryCompletion& delivery, const RetentionCutoffs& cutoffs) {
  return delivery.state == DeliveryState::dead_letter && delivery.completed_at &&
         cutoffs.dead_letters && *delivery.completed_at <= *cutoffs.dead_letters;
}

bool event_is_expired(WallTime created_at, std::span<const DeliveryCompletion> deliveries,
                      const RetentionCutoffs& cutoffs) {
  if (!cutoffs.events || created_at > *cutoffs.events) {
    return false;
  }
  return std::ranges::none_of(deliveries, [&](const DeliveryCompletion& delivery) {
    return is_waiting(delivery.state) || (delivery.state == DeliveryState::dead_letter &&
                                          !dead_letter_is_expired(delivery, cutoffs));
  });
}

}  // namespace postrider
