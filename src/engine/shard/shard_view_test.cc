// LaneView shows the first closed gate, in the order of the gates.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

TEST(LaneView, AnIdleLaneIsNotBlocked) {
  ShardDriver driver;
  const LaneView view = driver.view(driver.add_webhook());
  EXPECT_EQ(view.blocked, BlockReason::none);
  EXPECT_EQ(view.blocked_until, std::nullopt);
  EXPECT_EQ(view.circuit.state, CircuitState::closed);
  EXPECT_EQ(view.tokens, std::nullopt);
}

TEST(LaneView, AnUnknownWebhookHasNoView) {
  ShardDriver driver;
  EXPECT_EQ(driver.shard().view(WebhookId{{9}}, driver.now()), std::nullopt);
}

TEST(LaneView, ShowsAttemptsInFlightWindowSizeAndTokens) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) {
    each.max_in_flight = 2;
    each.rate_limit = RateLimit{.count = 1, .period = 1s, .burst = 5};
  });
  const std::vector<Delivery> deliveries = driver.admit_many(webhook, 3);
  const LaneView view = driver.view(webhook);
  EXPECT_EQ(view.in_flight, (std::vector{deliveries[0].id, deliveries[1].id}));
  EXPECT_EQ(view.window_count, 1u);
  EXPECT_EQ(view.tokens, 3.0);
}

TEST(LaneView, ARetryThatIsNotDueIsNotBlocked) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.finish_and_settle(driver.take<StartAttempt>().at(0), answered(503));
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::none);
}

TEST(LaneView, ShowsTheFirstClosedGate) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) {
    each.breaker.enabled = true;
    each.ordering = Ordering::strict;
    each.rate_limit = RateLimit{.count = 1, .period = 10s, .burst = 1};
    each.max_in_flight = 1;
  });
  const std::vector<Delivery> deliveries = driver.admit_many(webhook, 2);
  const StartAttempt start = driver.take<StartAttempt>().at(0);
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::order);

  driver.feed(CircuitCommanded{webhook, CircuitAction::force_open, 1h});
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::circuit);
  EXPECT_EQ(driver.view(webhook).blocked_until, driver.wall() + 1h);
  driver.change_webhook(webhook, [](Webhook& each) { each.paused = true; });
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::paused);
  driver.change_webhook(webhook, [](Webhook& each) { each.active = false; });
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::inactive);
  driver.finish(start, answered(200));
  driver.store_failed(driver.take<Settle>().at(0).settlement);
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::store);
  driver.feed(DrainRequested{});
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::drain);
}

TEST(LaneView, ShowsOrderBeforeSlotsAndSlotsBeforeRate) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) {
    each.max_in_flight = 1;
    each.rate_limit = RateLimit{.count = 1, .period = 10s, .burst = 1};
  });
  driver.admit_many(webhook, 2);
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::slots);
  driver.finish(driver.take<StartAttempt>().at(0), answered(200));
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::rate);
  EXPECT_EQ(driver.view(webhook).blocked_until, driver.wall() + 10s);
}

TEST(LaneView, ReadingAViewChangesNothing) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.finish_and_settle(driver.take<StartAttempt>().at(0), answered(503));
  const Moment far{.wall = driver.wall() + 24h, .mono = driver.now().mono + 24h};
  (void)driver.shard().view(webhook, far);
  driver.feed(AlarmRang{});
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
}

// ---------------------------------------------------------------- loads of tenants

TEST(TenantLoads, FollowTheAttemptsInFlightOfEachTenant) {
  ShardDriver driver;
  const auto of = [](const char* tenant) {
    return [tenant](Webhook& each) { each.tenant_id = tenant; };
  };
  const WebhookId acme = driver.add_webhook(of("acme"));
  const WebhookId other = driver.add_webhook(of("other"));
  EXPECT_TRUE(driver.shard().take_tenant_load_changes().empty());
  driver.admit_many(acme, 2);
  driver.admit(other);
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"acme", {.in_flight = 2}}, {"other", {.in_flight = 1}}}));
  EXPECT_TRUE(driver.shard().take_tenant_load_changes().empty());
  driver.finish_and_settle(driver.take<StartAttempt>().at(0), answered(200));
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"acme", {.in_flight = -1}}}));
}

TEST(TenantLoads, CountOpenCircuitsButNoHalfOpenOnes) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) {
    each.tenant_id = "acme";
    each.breaker.enabled = true;
  });
  driver.feed(CircuitCommanded{webhook, CircuitAction::force_open, 1h});
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"acme", {.open_circuits = 1}}}));
  driver.ring_after(1h);
  EXPECT_EQ(driver.view(webhook).circuit.state, CircuitState::half_open);
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"acme", {.open_circuits = -1}}}));
}

TEST(TenantLoads, MoveWithTheWebhookToAnotherTenant) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.tenant_id = "before"; });
  driver.admit(webhook);
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"before", {.in_flight = 1}}}));
  driver.change_webhook(webhook, [](Webhook& each) { each.tenant_id = "after"; });
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"before", {.in_flight = -1}}, {"after", {.in_flight = 1}}}));
}

TEST(TenantLoads, EndWithTheLane) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) {
    each.tenant_id = "acme";
    each.breaker.enabled = true;
  });
  driver.admit(webhook);
  driver.feed(CircuitCommanded{webhook, CircuitAction::force_open, 1h});
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"acme", {.in_flight = 1, .open_circuits = 1}}}));
  driver.feed(WebhookRemoved{webhook});
  driver.finish_and_settle(driver.take<StartAttempt>().at(0), answered(200));
  EXPECT_EQ(driver.shard().take_tenant_load_changes(),
            (TenantLoadChanges{{"acme", {.in_flight = -1, .open_circuits = -1}}}));
}

}  // namespace
}  // namespace postrider
