// Webhooks that hang do not take the slots of the others (P5).
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::failed;
using test::ShardDriver;

constexpr ShardOptions hundred{
    .in_flight_max = 100, .tenant_in_flight_max = 50, .first_attempt_reserve = 25};

ShardDriver::Tweak greedy(const std::string& tenant_id) {
  return [=](Webhook& webhook) {
    webhook.tenant_id = tenant_id;
    webhook.max_in_flight = 1'000;
    webhook.breaker.enabled = false;
    webhook.retry.timeout = 5min;
  };
}

ShardDriver::Tweak of_tenant(const std::string& tenant_id) {
  return [=](Webhook& webhook) { webhook.tenant_id = tenant_id; };
}

/// The event starts at once, and the receiver answers.
void expect_prompt(ShardDriver& driver, WebhookId webhook) {
  driver.admit(webhook);
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].delivery.webhook_id, webhook);
  driver.finish_and_settle(started[0], answered(200));
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
}

TEST(Isolation, HostileTenantsLeaveRoomForTheNextTenant) {
  for (const int hostile : {1, 2, 3, 10, 20}) {
    SCOPED_TRACE(hostile);
    ShardDriver driver{hundred};
    for (int number = 0; number < hostile; ++number) {
      const WebhookId webhook = driver.add_webhook(greedy(fmt::format("hostile-{}", number)));
      driver.admit_many(webhook, 100);
    }
    driver.ring_after(10s);
    EXPECT_GE(driver.take<StartAttempt>().size(), 25u);
    const WebhookId healthy = driver.add_webhook(of_tenant("healthy"));
    for (int i = 0; i < 20; ++i) {
      expect_prompt(driver, healthy);
    }
  }
}

TEST(Isolation, ASilentReceiverCostsOneSlot) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook(greedy("acme"));
  driver.admit_many(webhook, 40);
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  EXPECT_EQ(started.size(), 40u) << "a receiver is trusted until it hangs";
  EXPECT_EQ(driver.view(webhook).in_flight_limit, 1'000u);
  driver.ring_after(3s);
  EXPECT_EQ(driver.view(webhook).in_flight_limit, 1u);
  for (const StartAttempt& start : started) {
    driver.finish_and_settle(start, failed(FailureCategory::timeout));
  }
  driver.admit_many(webhook, 40);
  driver.ring_after(1h);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Isolation, AReceiverThatAnswersAgainGetsItsSlotsBack) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();  // max_in_flight is 5.
  driver.admit_many(webhook, 60);
  std::vector<StartAttempt> running = driver.take<StartAttempt>();
  driver.ring_after(3s);
  EXPECT_EQ(driver.view(webhook).in_flight_limit, 1u);
  for (int i = 0; i < 40; ++i) {
    ASSERT_FALSE(running.empty());
    driver.finish_and_settle(running.front(), answered(200));
    running.erase(running.begin());
    for (StartAttempt& start : driver.take<StartAttempt>()) {
      running.push_back(std::move(start));
    }
  }
  EXPECT_EQ(driver.view(webhook).in_flight_limit, 5u);
  EXPECT_EQ(running.size(), 5u);
}

TEST(Isolation, ASlowReceiverThatAnswersKeepsItsSlots) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit_many(webhook, 60);
  std::vector<StartAttempt> running = driver.take<StartAttempt>();
  for (int i = 0; i < 30; ++i) {
    driver.ring_after(1s);  // Each attempt takes five seconds.
    driver.finish_and_settle(running.front(), answered(200));
    running.erase(running.begin());
    for (StartAttempt& start : driver.take<StartAttempt>()) {
      running.push_back(std::move(start));
    }
    ASSERT_EQ(running.size(), 5u) << i;
  }
}

/// Many webhooks of one tenant hang with the default settings.
class HangingWebhooks : public testing::Test {
 protected:
  HangingWebhooks() : driver_(hundred) {
    healthy_ = driver_.add_webhook();
    expect_prompt(driver_, healthy_);
    for (int number = 0; number < 600; ++number) {
      hanging_.push_back(driver_.add_webhook());
      driver_.admit_many(hanging_.back(), 3);
    }
  }
  /// All attempts in flight have timed out; those that follow are in flight now.
  void time_out() {
    std::vector<StartAttempt> running = driver_.take<StartAttempt>();
    driver_.ring_after(30s);
    std::vector<StartAttempt> next = driver_.take<StartAttempt>();
    running_.insert(running_.end(), running.begin(), running.end());
    for (const StartAttempt& start : std::exchange(running_, {})) {
      driver_.finish_and_settle(start, failed(FailureCategory::timeout));
    }
    running_ = std::move(next);
    for (StartAttempt& start : driver_.take<StartAttempt>()) {
      running_.push_back(std::move(start));
    }
  }

  ShardDriver driver_;
  WebhookId healthy_;
  std::vector<WebhookId> hanging_;
  std::vector<StartAttempt> running_;
};

TEST_F(HangingWebhooks, LeaveRoomForAHealthyWebhookOfTheSameTenant) {
  running_ = driver_.take<StartAttempt>();
  for (int minute = 0; minute < 10; ++minute) {
    expect_prompt(driver_, healthy_);
    time_out();
  }
}

TEST_F(HangingWebhooks, LeaveRoomForManyEventsAtOnce) {
  running_ = driver_.take<StartAttempt>();
  driver_.admit_many(healthy_, 5);
  EXPECT_EQ(driver_.take<StartAttempt>().size(), 5u);
}

TEST_F(HangingWebhooks, GetTheirTurnsAllTheSame) {
  std::map<WebhookId, int> attempts;
  for (int round = 0; round < 120; ++round) {
    time_out();
    for (const StartAttempt& start : running_) {
      ++attempts[start.delivery.webhook_id];
    }
  }
  EXPECT_EQ(attempts.size(), hanging_.size());
}

TEST(Isolation, WebhooksOfAnOriginThatHangsAreNotAllTried) {
  ShardDriver driver{hundred};
  for (int number = 0; number < 200; ++number) {
    driver.admit(driver.add_webhook(
        [&](Webhook& webhook) { webhook.url = fmt::format("https://silent.example/{}", number); }));
  }
  EXPECT_LE(driver.take<StartAttempt>().size(), 32u);
  const WebhookId healthy = driver.add_webhook();
  expect_prompt(driver, healthy);
  driver.ring_after(3s);
  static_cast<void>(driver.take<StartAttempt>());
  for (int number = 0; number < 5; ++number) {
    expect_prompt(driver, driver.add_webhook());
  }
}

TEST(Isolation, StandingSurvivesARestart) {
  ShardDriver before;
  static_cast<void>(before.add_webhook());  // Its id is that of the first webhook of any driver.
  const WebhookId webhook = before.add_webhook();
  ShardDriver driver{hundred};
  const WebhookId hanging = driver.add_webhook(greedy("default"));
  driver.admit_many(hanging, 100);
  EXPECT_LT(driver.take<StartAttempt>().size(), 50u);
  const auto at = [&](Micros took) {
    return std::vector<PastCall>{
        {.began = driver.wall() - 1min,
         .ended = driver.wall() - 1min + std::chrono::duration_cast<Millis>(took)}};
  };
  driver.feed(WebhookChanged{
      .webhook = before.webhook(webhook), .circuit = {}, .backlog_due = {}, .past_calls = at(9ms)});
  driver.admit_many(webhook, 5);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 5u) << "it was proven before the restart";
}

}  // namespace
}  // namespace postrider
