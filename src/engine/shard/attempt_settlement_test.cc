#include "engine/shard/attempt_settlement.h"

#include <array>

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::epoch;

const RetryPolicy policy{.delay_base = 10s, .jitter = {}, .attempts_max = 3};
const SettlementContext context{.attempt_id = AttemptId{{7}}, .now = epoch, .draw = 0.5};

Entry in_flight(std::uint32_t attempts = 0) {
  Entry entry;
  entry.delivery.due = epoch - 1s;
  entry.delivery.attempt_count = attempts + 4;  // Four were made before a user revived it.
  entry.delivery.budget_used = attempts;
  entry.delivery.trigger = Trigger::manual;
  entry.stage = EntryStage::in_flight;
  return entry;
}

TEST(SettleAttempt, ASuccessEndsTheDelivery) {
  const AttemptSettlement settled = settle_attempt(in_flight(), answered(204), policy, context);
  const Settlement& settlement = settled.settlement;
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

TEST(SettleAttempt, AFailureIsScheduledForARetry) {
  const Settlement settlement =
      settle_attempt(in_flight(), answered(503), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settlement.delivery.due, epoch + 10s);
  EXPECT_EQ(settlement.delivery.trigger, Trigger::scheduled);
  EXPECT_EQ(settlement.attempt->trigger, Trigger::manual);
  EXPECT_EQ(settlement.attempt->next_retry_at, epoch + 10s);
  EXPECT_EQ(settlement.attempt->failure_category, FailureCategory::server_error);
}

TEST(SettleAttempt, AFailedTestSendIsCancelledNotDeadLettered) {
  Entry entry = in_flight();
  entry.delivery.trigger = Trigger::test;
  for (const std::uint16_t status : std::array<std::uint16_t, 3>{503, 404, 429}) {
    const Settlement settlement =
        settle_attempt(entry, answered(status), policy, context).settlement;
    EXPECT_EQ(settlement.delivery.state, DeliveryState::cancelled) << status;
    EXPECT_EQ(settlement.delivery.trigger, Trigger::test);
    EXPECT_EQ(settlement.delivery.due, entry.delivery.due);
    EXPECT_EQ(settlement.dead, std::nullopt);
    EXPECT_EQ(settlement.attempt->trigger, Trigger::test);
    EXPECT_EQ(settlement.attempt->next_retry_at, std::nullopt);
    EXPECT_NE(settlement.attempt->failure_category, std::nullopt);
  }
  EXPECT_EQ(settle_attempt(entry, answered(200), policy, context).settlement.delivery.state,
            DeliveryState::succeeded);
}

TEST(SettleAttempt, ARevivedTestSendIsAnOrdinaryDelivery) {
  Entry entry = in_flight();
  entry.delivery.trigger = Trigger::test;
  entry.revival = Revival{.due = epoch + 1s, .trigger = Trigger::manual};
  const Settlement settlement = settle_attempt(entry, answered(503), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settlement.delivery.trigger, Trigger::manual);
  EXPECT_EQ(settlement.attempt->next_retry_at, epoch + 1s);
}

TEST(SettleAttempt, A410AnswerToATestSendDisablesTheWebhook) {
  Entry entry = in_flight();
  entry.delivery.trigger = Trigger::test;
  EXPECT_TRUE(settle_attempt(entry, answered(410), policy, context).disable_webhook);
}

TEST(SettleAttempt, TheLastFailureMakesADeadLetter) {
  const Settlement settlement =
      settle_attempt(in_flight(2), answered(503), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::dead_letter);
  EXPECT_EQ(settlement.dead->reason, "max_attempts_exceeded");
  EXPECT_EQ(settlement.attempt->next_retry_at, std::nullopt);
}

TEST(SettleAttempt, A410AnswerDisablesTheWebhook) {
  EXPECT_TRUE(settle_attempt(in_flight(), answered(410), policy, context).disable_webhook);
  EXPECT_FALSE(settle_attempt(in_flight(), answered(404), policy, context).disable_webhook);
}

TEST(SettleAttempt, ACancelledDeliveryIsNeverRetried) {
  Entry entry = in_flight();
  entry.cancelled = true;
  for (const std::uint16_t status : {std::uint16_t{503}, std::uint16_t{404}}) {
    const Settlement settlement =
        settle_attempt(entry, answered(status), policy, context).settlement;
    EXPECT_EQ(settlement.delivery.state, DeliveryState::cancelled);
    EXPECT_EQ(settlement.dead, std::nullopt);
    EXPECT_EQ(settlement.attempt->next_retry_at, std::nullopt);
  }
  EXPECT_EQ(settle_attempt(entry, answered(200), policy, context).settlement.delivery.state,
            DeliveryState::succeeded);
}

TEST(SettleAttempt, ARevivedDeliveryThatFailsIsRetriedWithANewBudget) {
  Entry entry = in_flight(2);
  entry.revival =
      Revival{.due = epoch - 5ms, .priority = Priority::high, .trigger = Trigger::replay};
  const Settlement settlement = settle_attempt(entry, answered(404), policy, context).settlement;
  EXPECT_EQ(settlement.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settlement.delivery.due, epoch - 5ms);
  EXPECT_EQ(settlement.delivery.budget_used, 0u);
  EXPECT_EQ(settlement.delivery.attempt_count, 7u);
  EXPECT_EQ(settlement.delivery.priority, Priority::high);
  EXPECT_EQ(settlement.delivery.trigger, Trigger::replay);
  EXPECT_EQ(settlement.dead, std::nullopt);
}

TEST(SettleAttempt, ARevivedDeliveryThatSucceedsIsNotSentAgain) {
  Entry entry = in_flight();
  entry.revival = Revival{.due = epoch};
  EXPECT_EQ(settle_attempt(entry, answered(200), policy, context).settlement.delivery.state,
            DeliveryState::succeeded);
}

}  // namespace
}  // namespace postrider
