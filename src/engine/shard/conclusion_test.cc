#include "engine/shard/conclusion.h"

#include <array>

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::epoch;

const RetryPolicy policy{.delay_base = 10s, .jitter = {}, .attempts_max = 3};
const ConclusionContext context{.attempt_id = AttemptId{{7}}, .now = epoch, .draw = 0.5};

Entry in_flight(std::uint32_t tries = 0) {
  Entry entry;
  entry.delivery.due = epoch - 1s;
  entry.delivery.attempt_count = tries + 4;  // Four from before a person revived it.
  entry.delivery.budget_used = tries;
  entry.delivery.trigger = Trigger::manual;
  entry.place = Place::in_flight;
  return entry;
}

TEST(Conclude, ASuccessEndsTheDelivery) {
  const Conclusion conclusion = conclude(in_flight(), answered(204), policy, context);
  const Settlement& settlement = conclusion.settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(settlement.delivery.attempt_count, 5u);
  EXPECT_EQ(settlement.delivery.budget_used, 1u);
  EXPECT_EQ(settlement.dead, std::nullopt);
  ASSERT_TRUE(settlement.attempt);
  EXPECT_EQ(settlement.attempt->id, context.attempt_id);
  EXPECT_EQ(settlement.attempt->number, 5u);
  EXPECT_EQ(settlement.attempt->scheduled_at, epoch - 1s);
  EXPECT_EQ(settlement.attempt->trigger, Trigger::manual);
  EXPECT_EQ(settlement.attempt->failure_category, std::nullopt);
  EXPECT_EQ(settlement.attempt->next_retry_at, std::nullopt);
  EXPECT_EQ(settlement.attempt->outcome.http_status, 204);
}

TEST(Conclude, AFailureIsRetriedOfItsOwnAccord) {
  const Settlement settlement = conclude(in_flight(), answered(503), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settlement.delivery.due, epoch + 10s);
  EXPECT_EQ(settlement.delivery.trigger, Trigger::scheduled);
  EXPECT_EQ(settlement.attempt->trigger, Trigger::manual);
  EXPECT_EQ(settlement.attempt->next_retry_at, epoch + 10s);
  EXPECT_EQ(settlement.attempt->failure_category, FailureCategory::server_error);
}

TEST(Conclude, AFailedTestIsOverAndIsNoDeadLetter) {
  Entry entry = in_flight();
  entry.delivery.trigger = Trigger::test;
  for (const std::uint16_t status : std::array<std::uint16_t, 3>{503, 404, 429}) {
    const Settlement settlement = conclude(entry, answered(status), policy, context).settlement;
    EXPECT_EQ(settlement.delivery.state, DeliveryState::cancelled) << status;
    EXPECT_EQ(settlement.delivery.trigger, Trigger::test);
    EXPECT_EQ(settlement.delivery.due, entry.delivery.due);
    EXPECT_EQ(settlement.dead, std::nullopt);
    EXPECT_EQ(settlement.attempt->trigger, Trigger::test);
    EXPECT_EQ(settlement.attempt->next_retry_at, std::nullopt);
    EXPECT_NE(settlement.attempt->failure_category, std::nullopt);
  }
  EXPECT_EQ(conclude(entry, answered(200), policy, context).settlement.delivery.state,
            DeliveryState::succeeded);
}

TEST(Conclude, ATestThatAPersonAskedForAgainIsAnOrdinaryDeliveryFromThenOn) {
  Entry entry = in_flight();
  entry.delivery.trigger = Trigger::test;
  entry.revival = Revival{.due = epoch + 1s, .trigger = Trigger::manual};
  const Settlement settlement = conclude(entry, answered(503), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settlement.delivery.trigger, Trigger::manual);
  EXPECT_EQ(settlement.attempt->next_retry_at, epoch + 1s);
}

TEST(Conclude, AReceiverThatIsGoneIsGoneForATestAsWell) {
  Entry entry = in_flight();
  entry.delivery.trigger = Trigger::test;
  EXPECT_TRUE(conclude(entry, answered(410), policy, context).disable_webhook);
}

TEST(Conclude, TheLastFailureIsADeadLetter) {
  const Settlement settlement = conclude(in_flight(2), answered(503), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::dead_letter);
  EXPECT_EQ(settlement.dead->reason, "max_attempts_exceeded");
  EXPECT_EQ(settlement.attempt->next_retry_at, std::nullopt);
}

TEST(Conclude, GoneDisablesTheWebhook) {
  EXPECT_TRUE(conclude(in_flight(), answered(410), policy, context).disable_webhook);
  EXPECT_FALSE(conclude(in_flight(), answered(404), policy, context).disable_webhook);
}

TEST(Conclude, ACancelledDeliveryIsNotTriedAgainWhateverCameOfIt) {
  Entry entry = in_flight();
  entry.cancelled = true;
  for (const std::uint16_t status : {std::uint16_t{503}, std::uint16_t{404}}) {
    const Settlement settlement = conclude(entry, answered(status), policy, context).settlement;
    EXPECT_EQ(settlement.delivery.state, DeliveryState::cancelled);
    EXPECT_EQ(settlement.dead, std::nullopt);
    EXPECT_EQ(settlement.attempt->next_retry_at, std::nullopt);
  }
  EXPECT_EQ(conclude(entry, answered(200), policy, context).settlement.delivery.state,
            DeliveryState::succeeded);
}

TEST(Conclude, ARevivedDeliveryThatFailsGoesBackInLineWithAFreshBudget) {
  Entry entry = in_flight(2);
  entry.revival =
      Revival{.due = epoch - 5ms, .priority = Priority::high, .trigger = Trigger::replay};
  const Settlement settlement = conclude(entry, answered(404), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settlement.delivery.due, epoch - 5ms);
  EXPECT_EQ(settlement.delivery.budget_used, 0u);
  EXPECT_EQ(settlement.delivery.attempt_count, 7u);
  EXPECT_EQ(settlement.delivery.priority, Priority::high);
  EXPECT_EQ(settlement.delivery.trigger, Trigger::replay);
  EXPECT_EQ(settlement.dead, std::nullopt);
}

TEST(Conclude, ARevivedDeliveryThatSucceedsHasWhatWasWanted) {
  Entry entry = in_flight();
  entry.revival = Revival{.due = epoch};
  EXPECT_EQ(conclude(entry, answered(200), policy, context).settlement.delivery.state,
            DeliveryState::succeeded);
}

}  // namespace
}  // namespace postrider
