#include "engine/shard/delivered_after.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);

/// A success whose event was published at noon and whose attempt began two minutes later.
Settlement success() {
  Settlement settlement;
  settlement.delivery.event_id = UuidGenerator{1}.make<EventId>(noon);
  settlement.delivery.state = DeliveryState::succeeded;
  Outcome outcome;
  outcome.executed_at = noon + 2min;
  outcome.duration = 30ms;
  settlement.attempt = Attempt{.id = {},
                               .number = 3,
                               .trigger = Trigger::scheduled,
                               .scheduled_at = noon,
                               .outcome = outcome,
                               .failure_category = std::nullopt,
                               .next_retry_at = std::nullopt};
  return settlement;
}

TEST(DeliveredAfter, LastsFromThePublishToTheEndOfTheSuccessfulAttempt) {
  EXPECT_EQ(delivered_after(success()), 2min + 30ms);
}

TEST(DeliveredAfter, IsNeverNegativeWhenTheClockWasSetBack) {
  Settlement settlement = success();
  settlement.attempt->outcome.executed_at = noon - 1h;
  EXPECT_EQ(delivered_after(settlement), 30ms);
}

TEST(DeliveredAfter, IsUnknownWithoutASuccess) {
  for (const DeliveryState state :
       {DeliveryState::retrying, DeliveryState::dead_letter, DeliveryState::cancelled}) {
    Settlement settlement = success();
    settlement.delivery.state = state;
    EXPECT_EQ(delivered_after(settlement), std::nullopt) << to_string(state);
  }
  Settlement without_attempt = success();
  without_attempt.attempt.reset();
  EXPECT_EQ(delivered_after(without_attempt), std::nullopt);
}

TEST(DeliveredAfter, IsUnknownIfAUserSentIt) {
  for (const Trigger trigger : {Trigger::manual, Trigger::replay, Trigger::test}) {
    Settlement settlement = success();
    settlement.attempt->trigger = trigger;
    EXPECT_EQ(delivered_after(settlement), std::nullopt) << to_string(trigger);
  }
  Settlement revived = success();  // Its later attempts are scheduled ones.
  revived.delivery.revivals = 1;
  EXPECT_EQ(delivered_after(revived), std::nullopt);
  Settlement replayed = success();
  replayed.delivery.in_operation = true;
  EXPECT_EQ(delivered_after(replayed), std::nullopt);
}

}  // namespace
}  // namespace postrider
