#include "engine/shard/shard.h"

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

/// A delivery that failed and waits for its first retry, 30 s later.
StartAttempt fail_once(ShardDriver& driver, WebhookId webhook) {
  driver.admit(webhook);
  const StartAttempt start = driver.take<StartAttempt>().at(0);
  driver.finish_and_settle(start, answered(503));
  return start;
}

TEST(Shard, AnAdmittedDeliveryStartsAtOnce) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const Delivery delivery = driver.admit(webhook);
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].delivery, delivery);
  EXPECT_EQ(started[0].attempt_number, 1u);
  EXPECT_EQ(started[0].timeout, 30s);
  EXPECT_EQ(driver.alarm(), driver.now().mono + 2250ms) << "to see whether the receiver is slow";
}

TEST(Shard, TheTimeoutGrowsWithTheAttemptsSinceTheRevival) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) {
    each.retry.timeout = 10s;
    each.retry.timeout_growth = 2.0;
  });
  driver.admit(webhook, [](Delivery& delivery) {
    delivery.attempt_count = 7;
    delivery.budget_used = 1;
  });
  const StartAttempt start = driver.take<StartAttempt>().at(0);
  EXPECT_EQ(start.attempt_number, 8u);
  EXPECT_EQ(start.timeout, 20s);
}

TEST(Shard, SetsTheAlarmForARetry) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const MonoTime begun = driver.now().mono;
  const StartAttempt first = fail_once(driver, webhook);
  ASSERT_TRUE(driver.ring_next());  // It was set to see whether the receiver is slow.
  EXPECT_EQ(driver.alarm(), begun + 30s);

  driver.ring_after(begun + 30s - 1ms - driver.now().mono);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  EXPECT_EQ(driver.alarm(), begun + 30s);  // Set again after an early alarm.
  driver.ring_after(1ms);
  const StartAttempt second = driver.take<StartAttempt>().at(0);
  EXPECT_EQ(second.delivery.id, first.delivery.id);
  EXPECT_EQ(second.attempt_number, 2u);
}

TEST(Shard, SetsTheAlarmOnlyIfItMustBeEarlier) {
  ShardDriver driver;
  const WebhookId slow = driver.add_webhook();
  const WebhookId quick = driver.add_webhook([](Webhook& each) { each.retry.delay_base = 10s; });
  const auto set_alarms = [&] {  // After those that were set to see whether a receiver is slow.
    while (*driver.alarm() < driver.now().mono + 5s) {
      EXPECT_TRUE(driver.ring_next());
    }
    return driver.take<SetAlarm>().back().at - driver.now().mono;
  };
  fail_once(driver, slow);
  EXPECT_GT(set_alarms(), 20s);
  fail_once(driver, quick);
  EXPECT_LT(set_alarms(), 10s);
}

TEST(Shard, AnyStepStartsWhatIsDue) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const WebhookId other = driver.add_webhook();
  fail_once(driver, webhook);
  driver.pass(30s);
  driver.admit(other);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 2u);
}

TEST(Shard, AForwardClockJumpDoesNotTriggerRetries) {  // P9
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  fail_once(driver, webhook);
  driver.jump_wall(24h);
  driver.ring_after(28s);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  driver.ring_after(1s);  // Steady time is at most a sixteenth faster.
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Shard, ABackwardClockJumpDoesNotStallRetries) {  // P9
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  fail_once(driver, webhook);
  driver.jump_wall(-24h);
  driver.ring_after(30s);  // A sixteenth slower: 28.125 s have passed.
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  const MonoTime begun = driver.now().mono;
  while (driver.take<StartAttempt>().empty()) {
    ASSERT_TRUE(driver.ring_next());
  }
  EXPECT_EQ(driver.now().mono - begun, 2s);
}

TEST(Shard, RateLimitsUseMonotonicTime) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook(
      [](Webhook& each) { each.rate_limit = RateLimit{.count = 1, .period = 1s, .burst = 1}; });
  driver.admit_many(webhook, 2);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
  driver.jump_wall(24h);
  driver.ring_after(999'999us);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  driver.ring_after(1us);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Shard, DrainingStartsNothingAndEndsWhenAllIsSettled) {  // P10
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  const StartAttempt start = driver.take<StartAttempt>().at(0);
  driver.feed(DrainRequested{});
  driver.admit(webhook);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::drain);

  driver.finish(start, answered(200));
  EXPECT_TRUE(driver.take<Drained>().empty());
  driver.settled(driver.take<Settle>().at(0).settlement);
  EXPECT_EQ(driver.take<Drained>().size(), 1u);
  driver.feed(AlarmRang{});
  driver.feed(DrainRequested{});
  EXPECT_TRUE(driver.take<Drained>().empty());  // Sent only once.
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
}

TEST(Shard, DrainingAnIdleShardEndsAtOnce) {
  ShardDriver driver;
  driver.feed(DrainRequested{});
  EXPECT_EQ(driver.take<Drained>().size(), 1u);
}

TEST(Shard, DrainingDoesNotRestartAbandonedAttempts) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const Delivery delivery = driver.admit(webhook);
  driver.feed(DrainRequested{});
  EXPECT_TRUE(driver.take<Drained>().empty());
  driver.feed(AttemptAbandoned{webhook, delivery.id});
  EXPECT_EQ(driver.take<Drained>().size(), 1u);
  EXPECT_TRUE(driver.take<Settle>().empty());
}

TEST(Shard, DrainingDoesNotWaitForAStoreThatIsDown) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.finish(driver.take<StartAttempt>().at(0), answered(200));
  driver.feed(DrainRequested{});
  EXPECT_TRUE(driver.take<Drained>().empty());
  driver.store_failed(driver.take<Settle>().at(0).settlement);
  EXPECT_EQ(driver.take<Drained>().size(), 1u);
}

TEST(Shard, ADrainingShardLoadsNothing) {
  ShardDriver driver;
  driver.feed(DrainRequested{});
  auto webhook = std::make_shared<Webhook>();
  driver.feed(WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = driver.wall()});
  EXPECT_TRUE(driver.take<LoadLane>().empty());
}

TEST(Shard, CountersFollowEveryDelivery) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.max_in_flight = 1; });
  driver.add_webhook();
  driver.admit_many(webhook, 3);
  driver.admit(webhook, [](Delivery& delivery) { delivery.priority = Priority::low; });
  EXPECT_EQ(driver.totals().lanes, 2u);
  EXPECT_EQ(driver.totals().in_flight, 1u);
  EXPECT_EQ(driver.totals().waiting, (std::array<std::uint32_t, 3>{0, 2, 1}));
  EXPECT_EQ(driver.totals().circuits, (std::array<std::uint32_t, 3>{2, 0, 0}));

  driver.finish(driver.take<StartAttempt>().at(0), answered(200));
  EXPECT_EQ(driver.totals().unsettled, 1u);
  EXPECT_EQ(driver.totals().in_flight, 1u);
  EXPECT_EQ(driver.totals().waiting, (std::array<std::uint32_t, 3>{0, 1, 1}));

  driver.change_webhook(webhook, [](Webhook& each) { each.paused = true; });
  EXPECT_EQ(driver.totals().waiting, (std::array<std::uint32_t, 3>{0, 0, 0}));
}

TEST(Shard, AMovedShardWorks) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  Shard moved = std::move(driver.shard());
  const Commands commands = moved.step(Admitted{{driver.make(webhook)}}, driver.now());
  ASSERT_FALSE(commands.empty());
  EXPECT_TRUE(std::holds_alternative<StartAttempt>(commands[0]));
}

TEST(Shard, ReasonsAndAlertsHaveNames) {
  EXPECT_EQ(to_string(AlertKind::circuit_opened), "circuit_opened");
  EXPECT_EQ(to_string(AlertKind::circuit_recovered), "circuit_recovered");
  EXPECT_EQ(to_string(AlertKind::webhook_disabled), "webhook_disabled");
  EXPECT_EQ(to_string(BlockReason::none), "none");
  EXPECT_EQ(to_string(BlockReason::circuit), "circuit");
  EXPECT_EQ(to_string(BlockReason::drain), "drain");
}

}  // namespace
}  // namespace postrider
