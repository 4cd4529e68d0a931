#include "core/policy/retention.h"

#include <vector>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using std::chrono::hours;

constexpr WallTime now = wall_from_unix_ms(1'700'000'000'000);
constexpr RetentionAges ages{.events = hours{90}, .dead_letters = hours{30}};

DeliveryCompletion delivery_with(DeliveryState state, Millis age) {
  return {state, is_waiting(state) ? std::nullopt : std::optional{now - age}};
}

bool event_expires(Millis age, const std::vector<DeliveryCompletion>& deliveries,
                   const RetentionAges& kept = ages) {
  return event_is_expired(now - age, deliveries, cutoffs_at(kept, now));
}

TEST(Retention, EventExpiresExactlyAtItsAge) {
  EXPECT_FALSE(event_expires(hours{90} - Millis{1}, {}));
  EXPECT_TRUE(event_expires(hours{90}, {}));
  EXPECT_TRUE(event_expires(hours{90}, {delivery_with(DeliveryState::succeeded, hours{1}),
                                        delivery_with(DeliveryState::cancelled, hours{1})}));
}

TEST(Retention, EventIsKeptWhileADeliveryWaits) {
  EXPECT_FALSE(event_expires(hours{900}, {delivery_with(DeliveryState::succeeded, hours{800}),
                                          delivery_with(DeliveryState::pending, hours{0})}));
  EXPECT_FALSE(event_expires(hours{900}, {delivery_with(DeliveryState::retrying, hours{0})}));
}

TEST(Retention, EventIsKeptWhileADeadLetterIsKept) {
  EXPECT_FALSE(
      event_expires(hours{90}, {delivery_with(DeliveryState::dead_letter, hours{30} - Millis{1})}));
  EXPECT_TRUE(event_expires(hours{90}, {delivery_with(DeliveryState::dead_letter, hours{30})}));
}

TEST(Retention, DeadLetterExpiresByItself) {
  const RetentionCutoffs cutoffs = cutoffs_at(ages, now);
  EXPECT_TRUE(
      dead_letter_is_expired(delivery_with(DeliveryState::dead_letter, hours{30}), cutoffs));
  EXPECT_FALSE(dead_letter_is_expired(
      delivery_with(DeliveryState::dead_letter, hours{30} - Millis{1}), cutoffs));
  EXPECT_FALSE(
      dead_letter_is_expired(delivery_with(DeliveryState::succeeded, hours{900}), cutoffs));
  EXPECT_FALSE(dead_letter_is_expired({DeliveryState::dead_letter, std::nullopt}, cutoffs));
}

TEST(Retention, ZeroMeansForever) {
  EXPECT_FALSE(event_expires(hours{100'000}, {}, {.events = Millis{0}, .dead_letters = hours{1}}));
  const RetentionAges keep_dead_letters{.events = hours{1}, .dead_letters = Millis{0}};
  EXPECT_FALSE(event_expires(hours{900}, {delivery_with(DeliveryState::dead_letter, hours{900})},
                             keep_dead_letters));
  EXPECT_TRUE(event_expires(hours{900}, {delivery_with(DeliveryState::succeeded, hours{900})},
                            keep_dead_letters));
  EXPECT_FALSE(dead_letter_is_expired(delivery_with(DeliveryState::dead_letter, hours{900}),
                                      cutoffs_at(keep_dead_letters, now)));
}

}  // namespace
}  // namespace postrider
