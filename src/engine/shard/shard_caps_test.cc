// Limits of a tenant cap what its webhooks may use.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::failed;
using test::ShardDriver;

class ShardCaps : public testing::Test {
 protected:
  static WebhookId add(ShardDriver& driver, const TenantId& tenant_id) {
    return driver.add_webhook([&](Webhook& each) {
      each.tenant_id = tenant_id;
      each.max_in_flight = 10;
      each.retry.timeout = 30s;
      each.retry.timeout_growth = 2.0;
      each.retry.delay_base = 1s;
      each.retry.jitter = {};
      each.retry.category_minimums = false;
      each.breaker.enabled = false;
    });
  }
  WebhookId add(const TenantId& tenant_id) { return add(driver_, tenant_id); }
  void limit(TenantLimits limits) {
    driver_.feed(TenantLimited{.tenant_id = "acme", .limits = limits});
  }
  std::size_t started() { return driver_.take<StartAttempt>().size(); }
  /// Passes time until an attempt starts.
  StartAttempt next_start() {
    for (;;) {
      POSTRIDER_ASSERT(driver_.ring_next());
      if (const std::vector<StartAttempt> starts = driver_.take<StartAttempt>(); !starts.empty()) {
        return starts.front();
      }
    }
  }

  ShardDriver driver_;
};

TEST_F(ShardCaps, BoundTheAttemptsInFlightOfEachWebhookOfTheTenant) {
  limit({.max_in_flight_max = 3});
  const WebhookId capped = add("acme");
  driver_.admit_many(capped, 10);
  EXPECT_EQ(started(), 3u);
  driver_.admit_many(add("acme"), 10);
  EXPECT_EQ(started(), 3u) << "each webhook";
  driver_.admit_many(add("other"), 10);
  EXPECT_EQ(started(), 10u);
  EXPECT_EQ(driver_.view(capped).blocked, BlockReason::slots);
}

TEST_F(ShardCaps, ApplyToWebhooksThatExist) {
  const WebhookId webhook = add("acme");
  driver_.admit_many(webhook, 20);
  const std::vector<StartAttempt> first = driver_.take<StartAttempt>();
  EXPECT_EQ(first.size(), 10u);
  limit({.max_in_flight_max = 2});
  for (const StartAttempt& start : first) {
    driver_.finish_and_settle(start, test::answered(200));
  }
  EXPECT_EQ(started(), 2u);
  limit({});
  EXPECT_EQ(started(), 8u) << "without the limit the webhook's own holds";
}

TEST_F(ShardCaps, BoundTheTimeoutAlsoWhenItGrows) {
  limit({.timeout_ms_max = 45'000});
  const WebhookId webhook = add("acme");
  driver_.admit(webhook);
  StartAttempt start = driver_.take<StartAttempt>().at(0);
  EXPECT_EQ(start.timeout, 30s);
  driver_.finish_and_settle(start, failed(FailureCategory::timeout));
  start = next_start();
  EXPECT_EQ(start.timeout, 45s) << "twice as long without the cap";
  limit({.timeout_ms_max = 5'000});
  driver_.finish_and_settle(start, failed(FailureCategory::timeout));
  EXPECT_EQ(next_start().timeout, 5s);
}

TEST_F(ShardCaps, HaveADefaultThatATenantsOwnReplace) {
  ShardOptions options;
  options.caps = {.timeout = 10s, .in_flight = 2};
  ShardDriver driver{options};
  driver.feed(TenantLimited{.tenant_id = "large", .limits = {.max_in_flight_max = 5}});
  driver.admit_many(add(driver, "small"), 10);
  std::vector<StartAttempt> starts = driver.take<StartAttempt>();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].timeout, 10s);
  driver.admit_many(add(driver, "large"), 10);
  starts = driver.take<StartAttempt>();
  ASSERT_EQ(starts.size(), 5u);
  EXPECT_EQ(starts[0].timeout, 10s) << "it has no timeout of its own";
}

TEST_F(ShardCaps, FollowAWebhookThatMovesToAnotherTenant) {
  limit({.max_in_flight_max = 1});
  const WebhookId webhook = add("other");
  driver_.change_webhook(webhook, [](Webhook& each) { each.tenant_id = "acme"; });
  driver_.admit_many(webhook, 5);
  EXPECT_EQ(started(), 1u);
  driver_.change_webhook(webhook, [](Webhook& each) { each.tenant_id = "other"; });
  EXPECT_EQ(started(), 4u);
}

}  // namespace
}  // namespace postrider
