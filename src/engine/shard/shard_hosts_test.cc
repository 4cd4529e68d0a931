// The limit of requests to one host, over the webhooks of a shard.
#include <map>

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

ShardDriver::Tweak at(const std::string& url, const std::string& tenant_id = "") {
  return [=](Webhook& webhook) {
    webhook.url = url;
    webhook.tenant_id = tenant_id;
    webhook.max_in_flight = 100;
    webhook.breaker.enabled = false;
  };
}

class HostLimit : public testing::Test {
 protected:
  std::vector<StartAttempt> take() { return driver_.take<StartAttempt>(); }

  ShardDriver driver_{{.host_in_flight_max = 2}};
};

TEST_F(HostLimit, HoldsOverWebhooksAndTenantsOfTheHost) {  // P7
  const WebhookId one = driver_.add_webhook(at("https://Receiver.example/one", "acme"));
  const WebhookId two = driver_.add_webhook(at("https://receiver.EXAMPLE.:8443/two", "other"));
  const WebhookId elsewhere = driver_.add_webhook(at("https://elsewhere.example/", "acme"));
  driver_.admit_many(one, 3);
  driver_.admit_many(two, 3);
  const std::vector<StartAttempt> started = take();
  ASSERT_EQ(started.size(), 2u);
  EXPECT_EQ(driver_.view(two).blocked, BlockReason::slots);
  driver_.admit(elsewhere);
  EXPECT_EQ(take().size(), 1u);
  driver_.finish(started[0], answered(200));
  EXPECT_EQ(take().size(), 1u);
}

TEST_F(HostLimit, EverythingIsDeliveredAndNoWebhookStarves) {
  std::vector<WebhookId> webhooks;
  for (int i = 0; i < 5; ++i) {
    webhooks.push_back(driver_.add_webhook(at("https://receiver.example/")));
    driver_.admit_many(webhooks.back(), i == 0 ? 40 : 4);
  }
  std::map<WebhookId, int> done;
  std::vector<StartAttempt> running = take();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(running.size(), 2u);
    ++done[running[0].delivery.webhook_id];
    driver_.finish_and_settle(running[0], answered(200));
    running.erase(running.begin());
    for (StartAttempt& start : take()) {
      running.push_back(std::move(start));
    }
  }
  for (const WebhookId webhook : webhooks) {
    EXPECT_GE(done[webhook], 3) << "they take turns";
  }
  while (!running.empty()) {
    ASSERT_LE(running.size(), 2u);
    ++done[running[0].delivery.webhook_id];
    driver_.finish_and_settle(running[0], answered(200));
    running.erase(running.begin());
    for (StartAttempt& start : take()) {
      running.push_back(std::move(start));
    }
  }
  EXPECT_EQ(done[webhooks[0]], 40);
  EXPECT_EQ(done[webhooks[4]], 4);
}

TEST_F(HostLimit, ASlotGoesBackToTheHostItWasTakenFor) {
  const WebhookId moved = driver_.add_webhook(at("https://old.example/"));
  const WebhookId stays = driver_.add_webhook(at("https://old.example/"));
  driver_.admit_many(moved, 4);
  const std::vector<StartAttempt> to_old = take();
  ASSERT_EQ(to_old.size(), 2u);
  driver_.admit(stays);
  driver_.change_webhook(moved, [](Webhook& webhook) { webhook.url = "https://new.example/"; });
  const std::vector<StartAttempt> to_new = take();
  EXPECT_EQ(to_new.size(), 2u) << "the new host is free";
  driver_.finish(to_old[0], answered(200));
  const std::vector<StartAttempt> next = take();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].delivery.webhook_id, stays);
  driver_.finish(to_old[1], answered(200));
  driver_.finish(next[0], answered(200));
  driver_.finish(to_new[0], answered(200));
  driver_.admit_many(moved, 3);
  EXPECT_EQ(take().size(), 1u) << "one of two slots of the new host is still taken";
}

TEST_F(HostLimit, ARemovedWebhookReturnsItsSlots) {
  const WebhookId removed = driver_.add_webhook(at("https://receiver.example/"));
  const WebhookId stays = driver_.add_webhook(at("https://receiver.example/"));
  driver_.admit_many(removed, 5);
  const std::vector<StartAttempt> started = take();
  driver_.admit_many(stays, 2);
  driver_.feed(WebhookRemoved{removed});
  EXPECT_TRUE(take().empty());
  driver_.finish_and_settle(started[0], answered(200));
  driver_.feed(AttemptAbandoned{removed, started[1].delivery.id});
  const std::vector<StartAttempt> next = take();
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(next[0].delivery.webhook_id, stays);
}

TEST_F(HostLimit, AWaitingLaneThatClosesLetsTheNextOnePass) {
  const WebhookId busy = driver_.add_webhook(at("https://receiver.example/"));
  const WebhookId paused = driver_.add_webhook(at("https://receiver.example/"));
  const WebhookId last = driver_.add_webhook(at("https://receiver.example/"));
  driver_.admit_many(busy, 2);
  const std::vector<StartAttempt> started = take();
  driver_.admit(paused);
  driver_.admit(last);
  driver_.change_webhook(paused, [](Webhook& webhook) { webhook.paused = true; });
  driver_.finish(started[0], answered(200));
  const std::vector<StartAttempt> next = take();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].delivery.webhook_id, last);
}

TEST_F(HostLimit, AFullHostSpendsNoTokenOfTheWebhook) {
  const WebhookId busy = driver_.add_webhook(at("https://receiver.example/"));
  const WebhookId limited = driver_.add_webhook([](Webhook& webhook) {
    at("https://receiver.example/")(webhook);
    webhook.rate_limit = RateLimit{.count = 1, .period = 1h, .burst = 3};
  });
  driver_.admit_many(busy, 2);
  const std::vector<StartAttempt> started = take();
  driver_.admit_many(limited, 3);
  EXPECT_EQ(driver_.view(limited).tokens, 3.0);
  driver_.finish(started[0], answered(200));
  EXPECT_EQ(driver_.view(limited).tokens, 2.0);
}

TEST(HostLimitAndReserve, AFirstAttemptIsNotHeldUpByARetryOfTheSameHost) {
  ShardDriver driver{{.in_flight_max = 4,
                      .tenant_in_flight_max = 4,
                      .first_attempt_reserve = 2,
                      .host_in_flight_max = 1}};
  const WebhookId holds = driver.add_webhook(at("https://receiver.example/"));
  const WebhookId others = driver.add_webhook(at("https://other.example/"));
  const WebhookId retries = driver.add_webhook(at("https://receiver.example/"));
  const WebhookId fresh = driver.add_webhook(at("https://receiver.example/"));
  driver.admit(holds);
  driver.admit(others);  // Now retries have no slot left.
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  ASSERT_EQ(started.size(), 2u);
  driver.admit(retries, [](Delivery& delivery) { delivery.attempt_count = 1; });
  driver.admit(fresh);
  driver.admit(driver.add_webhook(at("https://third.example/")));
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
  driver.finish(started[0], answered(200));
  const std::vector<StartAttempt> next = driver.take<StartAttempt>();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].delivery.webhook_id, fresh);
}

}  // namespace
}  // namespace postrider
