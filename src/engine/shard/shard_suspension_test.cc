// Suspended tenants: their lanes start nothing until they are resumed.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

class ShardSuspension : public testing::Test {
 protected:
  WebhookId add(const TenantId& tenant_id) {
    return driver_.add_webhook([&](Webhook& each) { each.tenant_id = tenant_id; });
  }
  void suspend(bool suspended = true) {
    driver_.feed(TenantSuspension{.tenant_id = "acme", .suspended = suspended});
  }
  bool nothing_started() { return driver_.take<StartAttempt>().empty(); }

  ShardDriver driver_;
};

TEST_F(ShardSuspension, HoldsOnlyTheDeliveriesOfTheTenant) {
  const WebhookId held = add("acme");
  const WebhookId other = add("other");
  suspend();
  const Delivery delivery = driver_.admit(held);
  driver_.admit(other);
  const std::vector<StartAttempt> started = driver_.take<StartAttempt>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].delivery.webhook_id, other);
  EXPECT_EQ(driver_.view(held).blocked, BlockReason::suspended);
  EXPECT_EQ(driver_.view(held).blocked_until, std::nullopt);
  EXPECT_EQ(driver_.view(held).window_count, 0u) << "a held lane needs no memory";
  EXPECT_TRUE(driver_.take<LoadLane>().empty());

  suspend(false);
  EXPECT_EQ(driver_.take<LoadLane>().at(0).webhook_id, held);
  driver_.load(held, {delivery});
  EXPECT_EQ(driver_.take<StartAttempt>().at(0).delivery.id, delivery.id);
  EXPECT_EQ(driver_.view(held).blocked, BlockReason::none);
}

TEST_F(ShardSuspension, HoldsWebhooksThatAreAddedOrMovedLater) {
  suspend();
  const WebhookId added = add("acme");
  const WebhookId moved = add("other");
  driver_.change_webhook(moved, [](Webhook& each) { each.tenant_id = "acme"; });
  for (const WebhookId webhook : {added, moved}) {
    driver_.admit(webhook);
    EXPECT_TRUE(nothing_started());
    EXPECT_EQ(driver_.view(webhook).blocked, BlockReason::suspended);
  }
  driver_.change_webhook(moved, [](Webhook& each) { each.tenant_id = "other"; });
  EXPECT_EQ(driver_.view(moved).blocked, BlockReason::none);
}

TEST_F(ShardSuspension, AnAttemptInFlightEndsAndItsRetryWaits) {
  const WebhookId webhook = add("acme");
  const Delivery delivery = driver_.admit(webhook);
  const StartAttempt start = driver_.take<StartAttempt>().at(0);
  suspend();
  driver_.finish(start, answered(503));
  const Settlement failed = driver_.take<Settle>().at(0).settlement;
  EXPECT_EQ(failed.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(failed.delivery.attempt_count, 1u);
  driver_.settled(failed);
  driver_.ring_after(24h);
  EXPECT_TRUE(nothing_started());
  suspend(false);
  driver_.load(webhook, {failed.delivery});
  const StartAttempt again = driver_.take<StartAttempt>().at(0);
  EXPECT_EQ(again.delivery.id, delivery.id);
  EXPECT_EQ(again.attempt_number, 2u);
}

TEST_F(ShardSuspension, PauseAndSuspensionAreIndependent) {
  const WebhookId webhook = add("acme");
  driver_.change_webhook(webhook, [](Webhook& each) { each.paused = true; });
  suspend();
  EXPECT_EQ(driver_.view(webhook).blocked, BlockReason::suspended);
  driver_.change_webhook(webhook, [](Webhook& each) { each.paused = false; });
  driver_.admit(webhook);
  EXPECT_TRUE(nothing_started());
  driver_.change_webhook(webhook, [](Webhook& each) { each.paused = true; });
  suspend(false);
  EXPECT_EQ(driver_.view(webhook).blocked, BlockReason::paused);
  EXPECT_TRUE(nothing_started());
}

TEST_F(ShardSuspension, TheTimeOfSuspensionDoesNotCountAsTimeOfFailure) {
  const WebhookId webhook = add("acme");
  driver_.admit(webhook);
  driver_.finish_and_settle(driver_.take<StartAttempt>().at(0), answered(503));
  suspend();
  driver_.pass(24h * 30);
  suspend(false);
  (void)driver_.take<LoadLane>();
  driver_.load(webhook, {driver_.make(webhook)});
  driver_.finish_and_settle(driver_.take<StartAttempt>().at(0), answered(503));
  EXPECT_TRUE(driver_.take<DisableWebhook>().empty());
}

}  // namespace
}  // namespace postrider
