// The effect of each input: settlements, store failures, revivals, cancels and webhook changes.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

class ShardInputs : public testing::Test {
 protected:
  Settlement settlement() { return driver_.take<Settle>().at(0).settlement; }
  StartAttempt start() { return driver_.take<StartAttempt>().at(0); }
  bool nothing_started() { return driver_.take<StartAttempt>().empty(); }
  Delivery revived(Delivery delivery) const {
    delivery.state = DeliveryState::pending;
    delivery.budget_used = 0;
    delivery.trigger = Trigger::manual;
    delivery.due = driver_.wall();
    ++delivery.revivals;
    return delivery;
  }

  ShardDriver driver_;
  WebhookId webhook_ = driver_.add_webhook();
};

TEST_F(ShardInputs, AFinishedAttemptIsSettledWithItsRecord) {
  driver_.admit(webhook_);
  const StartAttempt started = start();
  driver_.pass(80ms);
  driver_.finish(started, answered(503));
  const Settlement settled = settlement();
  EXPECT_EQ(settled.delivery.id, started.delivery.id);
  EXPECT_EQ(settled.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settled.delivery.due, driver_.wall() + 30s);
  EXPECT_EQ(settled.delivery.attempt_count, 1u);
  EXPECT_EQ(settled.attempt->number, 1u);
  EXPECT_EQ(settled.attempt->outcome.http_status, 503);
  EXPECT_EQ(settled.attempt->outcome.executed_at, driver_.wall());
}

TEST_F(ShardInputs, WithoutAnOrderTheNextDeliveryStartsBeforeTheSettlement) {
  driver_.change_webhook(webhook_, [](Webhook& each) { each.max_in_flight = 1; });
  driver_.admit_many(webhook_, 2);
  driver_.finish(start(), answered(200));
  EXPECT_FALSE(nothing_started());
}

TEST_F(ShardInputs, IgnoresUnrequestedAnswers) {
  const Delivery delivery = driver_.make(webhook_);
  const std::size_t before = driver_.log().size();
  driver_.feed(AttemptFinished{webhook_, delivery.id, answered(200)});
  driver_.feed(AttemptAbandoned{webhook_, delivery.id});
  driver_.feed(AttemptFinished{WebhookId{}, delivery.id, answered(200)});
  driver_.feed(Settled{{{webhook_, delivery.id}}});
  driver_.feed(DeliveryCancelled{webhook_, delivery.id});
  driver_.load(webhook_, {delivery});
  driver_.feed(LaneLoadFailed{webhook_});
  EXPECT_EQ(driver_.log().size(), before);
}

TEST_F(ShardInputs, AnAbandonedAttemptDoesNotCount) {
  const Delivery delivery = driver_.admit(webhook_);
  EXPECT_EQ(start().attempt_number, 1u);
  driver_.feed(AttemptAbandoned{webhook_, delivery.id});
  EXPECT_TRUE(driver_.take<Settle>().empty());
  ASSERT_TRUE(driver_.ring_next());
  EXPECT_EQ(start().attempt_number, 1u);
}

// ---------------------------------------------------------------- the store

TEST_F(ShardInputs, AfterAStoreFailureNothingStartsAndTheSettlementIsResubmitted) {
  driver_.admit(webhook_);
  driver_.finish(start(), answered(200));
  const Settlement first = settlement();
  driver_.store_failed(first);
  driver_.admit(webhook_);
  EXPECT_TRUE(nothing_started());
  EXPECT_EQ(driver_.view(webhook_).blocked, BlockReason::store);

  driver_.ring_after(100ms);
  EXPECT_EQ(settlement(), first);
  EXPECT_TRUE(nothing_started());
  driver_.settled(first);
  EXPECT_FALSE(nothing_started());
  EXPECT_EQ(driver_.totals().unsettled, 0u);
}

TEST_F(ShardInputs, ResubmitsAtDoublingPauses) {
  driver_.admit(webhook_);
  driver_.finish(start(), answered(200));
  Settlement owed = settlement();
  driver_.ring_after(3s);  // After the alarm that was set to see whether the receiver is slow.
  for (const Millis pause : {100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    const MonoTime failed_at = driver_.now().mono;
    driver_.store_failed(owed);
    ASSERT_TRUE(driver_.ring_next());
    EXPECT_EQ(driver_.now().mono - failed_at, pause);
    owed = settlement();
  }
}

TEST_F(ShardInputs, AttemptsInFlightDuringAnOutageAreSettledAfterIt) {
  driver_.admit_many(webhook_, 2);
  const std::vector<StartAttempt> started = driver_.take<StartAttempt>();
  driver_.finish(started[0], answered(200));
  driver_.store_failed(settlement());
  driver_.finish(started[1], answered(503));
  const Settlement second = settlement();
  driver_.store_failed(second);
  driver_.ring_after(100ms);
  EXPECT_EQ(driver_.take<Settle>().size(), 2u);
}

TEST_F(ShardInputs, NothingStartsWithTooManyUnconfirmedSettlements) {
  ShardDriver driver{{.unsettled_max = 2}};
  const WebhookId webhook = driver.add_webhook();
  driver.admit_many(webhook, 3);
  for (const StartAttempt& each : driver.take<StartAttempt>()) {
    driver.finish(each, answered(200));
  }
  const std::vector<Settle> owed = driver.take<Settle>();
  driver.admit(webhook);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  driver.settled(owed[0].settlement);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  driver.settled(owed[1].settlement);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

// ---------------------------------------------------------------- revivals and cancels

TEST_F(ShardInputs, ARevivedDeliveryStartsAtOnceWithANewBudget) {
  const Delivery delivery = driver_.make(webhook_);
  Delivery dead = revived(delivery);
  dead.attempt_count = 12;
  driver_.feed(Admitted{{dead}});
  const StartAttempt started = start();
  EXPECT_EQ(started.attempt_number, 13u);
  driver_.finish(started, answered(503));
  EXPECT_EQ(settlement().delivery.state, DeliveryState::retrying);
}

TEST_F(ShardInputs, ARevivalMakesAWaitingRetryDueNow) {
  driver_.admit(webhook_);
  driver_.finish(start(), answered(503));
  const Settlement retry = settlement();
  driver_.settled(retry);
  EXPECT_TRUE(nothing_started());
  driver_.feed(Admitted{{revived(retry.delivery)}});
  EXPECT_EQ(start().delivery.trigger, Trigger::manual);
  EXPECT_EQ(driver_.view(webhook_).window_count, 0u);
}

TEST_F(ShardInputs, ARevivalInFlightGivesAnotherAttemptAfterAFailure) {
  const Delivery delivery = driver_.admit(webhook_);
  const StartAttempt started = start();
  driver_.feed(Admitted{{revived(delivery)}});
  EXPECT_TRUE(nothing_started());  // Never two attempts at once.
  driver_.finish(started, answered(404));
  const Settlement settled = settlement();
  EXPECT_EQ(settled.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(settled.delivery.budget_used, 0u);
  driver_.settled(settled);
  EXPECT_EQ(start().attempt_number, 2u);
}

TEST_F(ShardInputs, ADeliveryThatComesTwiceIsNotRevived) {
  const Delivery delivery = driver_.admit(webhook_);
  const StartAttempt started = start();
  driver_.feed(Admitted{{delivery}});
  driver_.finish(started, answered(503));
  const Settlement retry = settlement();
  EXPECT_EQ(retry.delivery.budget_used, 1u);
  driver_.settled(retry);
  EXPECT_TRUE(nothing_started());
  EXPECT_TRUE(driver_.take<LoadLane>().empty());
}

TEST_F(ShardInputs, ARevivalInFlightEndsWithASuccess) {
  const Delivery delivery = driver_.admit(webhook_);
  const StartAttempt started = start();
  driver_.feed(Admitted{{revived(delivery)}});
  driver_.finish_and_settle(started, answered(200));
  EXPECT_TRUE(nothing_started());
  EXPECT_TRUE(driver_.take<LoadLane>().empty());
}

TEST_F(ShardInputs, ARevivedUnsettledDeliveryIsReloadedAfterItsSettlement) {
  const Delivery delivery = driver_.admit(webhook_);
  driver_.finish(start(), answered(404));
  driver_.feed(Admitted{{revived(delivery)}});
  EXPECT_TRUE(nothing_started());
  driver_.settled(settlement());
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
  driver_.load(webhook_, {revived(delivery)});
  EXPECT_EQ(start().delivery.id, delivery.id);
}

TEST_F(ShardInputs, AResubmittedSettlementDoesNotUndoARevival) {
  const Delivery delivery = driver_.admit(webhook_);
  driver_.finish(start(), answered(404));
  driver_.store_failed(settlement());
  driver_.feed(Admitted{{revived(delivery)}});
  driver_.ring_after(100ms);
  const Settlement again = settlement();
  EXPECT_EQ(again.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(again.dead, std::nullopt);
  EXPECT_TRUE(again.attempt);
}

TEST_F(ShardInputs, AResubmittedSettlementIsMarked) {
  driver_.admit(webhook_);
  driver_.finish(start(), answered(404));
  const std::vector<Settle> first = driver_.take<Settle>();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_FALSE(first.front().is_resubmission);
  driver_.store_failed(first.front().settlement);
  driver_.ring_after(100ms);
  const std::vector<Settle> second = driver_.take<Settle>();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(second.front().is_resubmission);
  EXPECT_EQ(second.front().settlement, first.front().settlement);
}

TEST_F(ShardInputs, ASettlementAfterARevivalCarriesTheRevivalCount) {
  const Delivery delivery = driver_.admit(webhook_);
  const StartAttempt started = start();
  Delivery again = revived(delivery);
  again.revivals = 3;
  driver_.feed(Admitted{{again}});
  driver_.finish(started, answered(404));
  EXPECT_EQ(settlement().delivery.revivals, 3u);
}

TEST_F(ShardInputs, ACancelledWaitingDeliveryIsNotSent) {
  driver_.change_webhook(webhook_, [](Webhook& each) { each.max_in_flight = 1; });
  const std::vector<Delivery> deliveries = driver_.admit_many(webhook_, 3);
  driver_.feed(DeliveryCancelled{webhook_, deliveries[1].id});
  driver_.finish(start(), answered(200));
  EXPECT_EQ(driver_.take_started(), std::vector{deliveries[2].id});
}

TEST_F(ShardInputs, ACancelledDeliveryInFlightIsRecordedButNotRetried) {
  const Delivery delivery = driver_.admit(webhook_);
  const StartAttempt started = start();
  driver_.feed(DeliveryCancelled{webhook_, delivery.id});
  driver_.finish(started, answered(503));
  const Settlement settled = settlement();
  EXPECT_EQ(settled.delivery.state, DeliveryState::cancelled);
  EXPECT_TRUE(settled.attempt);
  driver_.settled(settled);
  driver_.ring_after(24h);
  EXPECT_TRUE(nothing_started());
  EXPECT_EQ(driver_.alarm(), std::nullopt);
}

TEST_F(ShardInputs, ACancelBeforeTheSettlementStopsTheRetry) {
  const Delivery delivery = driver_.admit(webhook_);
  driver_.finish(start(), answered(503));
  driver_.feed(DeliveryCancelled{webhook_, delivery.id});
  driver_.settled(settlement());
  driver_.ring_after(24h);
  EXPECT_TRUE(nothing_started());
}

// ---------------------------------------------------------------- webhooks

TEST_F(ShardInputs, ADeliveryForAnUnknownWebhookIsCancelled) {
  const WebhookId unknown{{9}};
  const Delivery delivery = driver_.admit(unknown);
  const Settlement settled = settlement();
  EXPECT_EQ(settled.delivery.id, delivery.id);
  EXPECT_EQ(settled.delivery.state, DeliveryState::cancelled);
  EXPECT_EQ(settled.attempt, std::nullopt);
  driver_.store_failed(settled);
  driver_.ring_after(100ms);
  EXPECT_EQ(settlement(), settled);
  driver_.settled(settled);
  EXPECT_EQ(driver_.totals().unsettled, 0u);
}

TEST_F(ShardInputs, ARemovedWebhookSendsNothingAndItsLaneIsRemovedWhenEmpty) {
  driver_.change_webhook(webhook_, [](Webhook& each) { each.max_in_flight = 1; });
  driver_.admit_many(webhook_, 3);
  const StartAttempt started = start();
  driver_.feed(WebhookRemoved{webhook_});
  EXPECT_EQ(driver_.shard().view(webhook_, driver_.now()), std::nullopt);
  EXPECT_EQ(driver_.totals().lanes, 1u);
  EXPECT_EQ(driver_.totals().waiting, (std::array<std::uint32_t, 3>{0, 0, 0}));

  const Delivery late = driver_.admit(webhook_);
  EXPECT_EQ(settlement().delivery.state, DeliveryState::cancelled);
  driver_.finish(started, answered(503));
  const Settlement settled = settlement();
  EXPECT_EQ(settled.delivery.state, DeliveryState::cancelled);
  driver_.settled(settled);
  EXPECT_EQ(driver_.totals().lanes, 0u);
  EXPECT_EQ(driver_.totals().circuits, (std::array<std::uint32_t, 3>{0, 0, 0}));
  EXPECT_TRUE(nothing_started());
  driver_.feed(Settled{{{webhook_, late.id}}});
  EXPECT_EQ(driver_.totals().unsettled, 0u);
}

TEST_F(ShardInputs, A410AnswerDisablesTheWebhookWithOneAlert) {
  driver_.admit_many(webhook_, 2);
  const std::vector<StartAttempt> started = driver_.take<StartAttempt>();
  driver_.finish(started[0], answered(410));
  driver_.finish(started[1], answered(410));
  EXPECT_EQ(driver_.take<DisableWebhook>().at(0).webhook_id, webhook_);
  const std::vector<RaiseAlert> alerts = driver_.take<RaiseAlert>();
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0].kind, AlertKind::webhook_disabled);
  EXPECT_EQ(settlement().dead->reason, "permanent_client_error_410");
}

TEST_F(ShardInputs, PausedAndInactiveWebhooksHoldTheirDeliveries) {
  for (bool Webhook::* gate : {&Webhook::paused, &Webhook::active}) {
    driver_.change_webhook(webhook_, [&](Webhook& each) { each.*gate = !(each.*gate); });
    const Delivery delivery = driver_.admit(webhook_);
    EXPECT_TRUE(nothing_started());
    EXPECT_TRUE(driver_.take<LoadLane>().empty());
    driver_.change_webhook(webhook_, [&](Webhook& each) { each.*gate = !(each.*gate); });
    EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
    driver_.load(webhook_, {delivery});
    const StartAttempt started = start();
    EXPECT_EQ(started.delivery.id, delivery.id);
    driver_.finish_and_settle(started, answered(200));
  }
}

TEST_F(ShardInputs, AWebhookThatMovesToAnotherTenantKeepsItsAttemptsInFlight) {
  ShardDriver driver{{.tenant_in_flight_max = 1}};
  const WebhookId moving = driver.add_webhook([](Webhook& each) { each.tenant_id = "one"; });
  const WebhookId staying = driver.add_webhook([](Webhook& each) { each.tenant_id = "one"; });
  driver.admit(moving);
  const StartAttempt started = driver.take<StartAttempt>().at(0);
  driver.admit(staying);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  driver.change_webhook(moving, [](Webhook& each) { each.tenant_id = "two"; });
  EXPECT_EQ(driver.take<StartAttempt>().at(0).delivery.webhook_id, staying);
  driver.finish_and_settle(started, answered(200));
  EXPECT_EQ(driver.totals().in_flight, 1u);
}

}  // namespace
}  // namespace postrider
