// A webhook whose attempts have all failed for days is disabled, with an alert.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::epoch;
using test::ShardDriver;

constexpr Millis five_days = 5 * 24h;

class ShardDisabling : public testing::Test {
 protected:
  static void plain(Webhook& webhook) {
    webhook.breaker.enabled = false;
    webhook.retry.attempts_max = 1;  // Every failure is final: one attempt per delivery.
  }

  void attempt(std::uint16_t http_status, ShardDriver& driver) {
    driver.admit(webhook_, [](Delivery& delivery) { delivery.due = epoch; });
    const std::vector<StartAttempt> started = driver.take<StartAttempt>();
    ASSERT_EQ(started.size(), 1u);
    driver.finish_and_settle(started[0], answered(http_status));
  }
  void attempt(std::uint16_t http_status) { attempt(http_status, driver_); }

  ShardDriver driver_;
  WebhookId webhook_ = driver_.add_webhook(plain);
};

TEST_F(ShardDisabling, DisablesAfterFiveDaysOfFailures) {
  attempt(503);
  driver_.pass(five_days - 1ms);
  attempt(503);
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
  driver_.pass(1ms);
  attempt(503);
  const std::vector<DisableWebhook> disabled = driver_.take<DisableWebhook>();
  ASSERT_EQ(disabled.size(), 1u);
  EXPECT_EQ(disabled[0].webhook_id, webhook_);
  EXPECT_EQ(disabled[0].reason, "Every attempt has failed since 2026-01-01T00:00:00.000Z.");
  const std::vector<RaiseAlert> alerts = driver_.take<RaiseAlert>();
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0].kind, AlertKind::webhook_disabled);
  ASSERT_TRUE(alerts[0].measure.has_value());
  EXPECT_EQ(alerts[0].measure->limit, static_cast<double>(Millis{five_days}.count()));
  EXPECT_GE(alerts[0].measure->count, alerts[0].measure->limit);
  EXPECT_EQ(alerts[0].measure->unit, AlertUnit::ms);
}

TEST_F(ShardDisabling, ASuccessRestartsTheFiveDays) {
  attempt(503);
  driver_.pass(five_days - 1ms);
  attempt(200);
  attempt(503);
  driver_.pass(five_days - 1ms);
  attempt(503);
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
  driver_.pass(1ms);
  attempt(503);
  EXPECT_EQ(driver_.take<DisableWebhook>().size(), 1u);
}

TEST_F(ShardDisabling, ASuccessAfterFiveDaysPreventsDisabling) {
  attempt(503);
  driver_.pass(five_days * 2);
  attempt(200);
  attempt(503);
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
}

TEST(ShardNeverDisabling, ZeroNeverDisables) {
  ShardDriver driver{ShardOptions{.disable_after = 0s}};
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.breaker.enabled = false; });
  for (int i = 0; i < 2; ++i) {
    driver.admit(webhook);
    driver.finish_and_settle(driver.take<StartAttempt>().at(0), answered(503));
    driver.pass(five_days * 10);
  }
  EXPECT_TRUE(driver.take<DisableWebhook>().empty());
}

TEST_F(ShardDisabling, TimeWithoutAttemptsDoesNotDisable) {
  attempt(503);
  driver_.ring_after(five_days * 3);
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
}

TEST_F(ShardDisabling, TheFirstFailureIsSavedAndCountsAfterARestart) {
  attempt(503);
  attempt(503);
  const std::vector<SaveCircuit> saved = driver_.take<SaveCircuit>();
  ASSERT_EQ(saved.size(), 1u);  // The second failure changes nothing.
  EXPECT_EQ(saved[0].record.failing_since, epoch);

  ShardDriver after;
  after.pass(five_days);
  after.feed(WebhookChanged{.webhook = driver_.webhook(webhook_),
                            .circuit = saved[0].record,
                            .backlog_due = std::nullopt,
                            .at_start = true});
  attempt(503, after);
  EXPECT_EQ(after.take<DisableWebhook>().size(), 1u);
}

TEST_F(ShardDisabling, ASuccessIsSavedAsWell) {
  attempt(503);
  (void)driver_.take<SaveCircuit>();
  attempt(200);
  attempt(200);
  const std::vector<SaveCircuit> saved = driver_.take<SaveCircuit>();
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].record.failing_since, std::nullopt);
}

TEST_F(ShardDisabling, AWallClockJumpDoesNotDisable) {
  attempt(503);
  driver_.jump_wall(five_days * 10);
  attempt(503);
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
  driver_.jump_wall(-five_days * 20);
  attempt(503);
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
}

TEST_F(ShardDisabling, AFirstFailureFromAWrongClockCountsAsNow) {
  ShardDriver after;
  after.feed(WebhookChanged{.webhook = driver_.webhook(webhook_),
                            .circuit = CircuitRecord{.failing_since = epoch + five_days * 100},
                            .backlog_due = std::nullopt,
                            .at_start = true});
  attempt(503, after);
  after.pass(five_days);
  attempt(503, after);
  EXPECT_EQ(after.take<DisableWebhook>().size(), 1u);
}

TEST_F(ShardDisabling, AReactivatedWebhookHasFiveDaysAgain) {
  attempt(503);
  driver_.pass(five_days);
  attempt(503);
  ASSERT_EQ(driver_.take<DisableWebhook>().size(), 1u);
  driver_.change_webhook(webhook_, [](Webhook& webhook) { webhook.active = false; });
  (void)driver_.take<SaveCircuit>();
  driver_.change_webhook(webhook_, [](Webhook& webhook) { webhook.active = true; });
  const std::vector<SaveCircuit> saved = driver_.take<SaveCircuit>();
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].record.failing_since, std::nullopt);
  attempt(503);
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
}

TEST_F(ShardDisabling, ACircuitResetDoesNotResetTheFiveDays) {
  attempt(503);
  driver_.pass(five_days);
  driver_.feed(CircuitCommanded{.webhook_id = webhook_, .action = CircuitAction::reset});
  attempt(503);
  EXPECT_EQ(driver_.take<DisableWebhook>().size(), 1u);
}

}  // namespace
}  // namespace postrider
