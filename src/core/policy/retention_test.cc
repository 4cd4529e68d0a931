#include "core/policy/retention.h"

#include <vector>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using std::chrono::hours;

constexpr WallTime now = wall_from_unix_ms(1'700'000'000'000);
constexpr RetentionAges ages{.events = hours{90}, .dead_letters = hours{30}};

DeliveryStanding standing(DeliveryState state, Millis age) {
  return {state, is_waiting(state) ? std::nullopt : std::optional{now - age}};
}

bool event_goes(Millis age, const std::vector<DeliveryStanding>& deliveries,
                const RetentionAges& kept = ages) {
  return event_may_go(now - age, deliveries, cutoffs_at(kept, now));
}

TEST(Retention, AnEventGoesExactlyWhenItsAgeHasCome) {
  EXPECT_FALSE(event_goes(hours{90} - Millis{1}, {}));
  EXPECT_TRUE(event_goes(hours{90}, {}));
  EXPECT_TRUE(event_goes(hours{90}, {standing(DeliveryState::succeeded, hours{1}),
                                     standing(DeliveryState::cancelled, hours{1})}));
}

TEST(Retention, AnEventStaysWhileADeliveryOfItWaits) {
  EXPECT_FALSE(event_goes(hours{900}, {standing(DeliveryState::succeeded, hours{800}),
                                       standing(DeliveryState::pending, hours{0})}));
  EXPECT_FALSE(event_goes(hours{900}, {standing(DeliveryState::retrying, hours{0})}));
}

TEST(Retention, AnEventStaysWhileADeadLetterOfItIsYoung) {
  EXPECT_FALSE(
      event_goes(hours{90}, {standing(DeliveryState::dead_letter, hours{30} - Millis{1})}));
  EXPECT_TRUE(event_goes(hours{90}, {standing(DeliveryState::dead_letter, hours{30})}));
}

TEST(Retention, ADeadLetterGoesByItself) {
  const RetentionCutoffs cutoffs = cutoffs_at(ages, now);
  EXPECT_TRUE(dead_letter_may_go(standing(DeliveryState::dead_letter, hours{30}), cutoffs));
  EXPECT_FALSE(
      dead_letter_may_go(standing(DeliveryState::dead_letter, hours{30} - Millis{1}), cutoffs));
  EXPECT_FALSE(dead_letter_may_go(standing(DeliveryState::succeeded, hours{900}), cutoffs));
  EXPECT_FALSE(dead_letter_may_go({DeliveryState::dead_letter, std::nullopt}, cutoffs));
}

TEST(Retention, ZeroKeepsForGood) {
  EXPECT_FALSE(event_goes(hours{100'000}, {}, {.events = Millis{0}, .dead_letters = hours{1}}));
  const RetentionAges dead_stay{.events = hours{1}, .dead_letters = Millis{0}};
  EXPECT_FALSE(
      event_goes(hours{900}, {standing(DeliveryState::dead_letter, hours{900})}, dead_stay));
  EXPECT_TRUE(event_goes(hours{900}, {standing(DeliveryState::succeeded, hours{900})}, dead_stay));
  EXPECT_FALSE(dead_letter_may_go(standing(DeliveryState::dead_letter, hours{900}),
                                  cutoffs_at(dead_stay, now)));
}

}  // namespace
}  // namespace postrider
