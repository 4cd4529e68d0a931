// Several nodes share the webhooks: parts are acquired, lost and handed back.
#include "engine/shard/shard_leases_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::id_in;
using test::other_part;
using test::part;
using test::ShardLeases;
using Tweak = test::ShardDriver::Tweak;

TEST_F(ShardLeases, InputsOfPartsThatAreNotWorkedAreIgnored) {
  const WebhookId webhook = add(part);
  EXPECT_FALSE(has_lane(webhook));
  const Delivery delivery = driver_.admit(webhook);
  driver_.load(webhook, {delivery});
  driver_.feed(LaneLoadFailed{webhook});
  driver_.feed(Rescheduled{webhook, {delivery}});
  driver_.feed(DeliveryCancelled{webhook, delivery.id});
  driver_.feed(WebhookRemoved{webhook});
  EXPECT_TRUE(driver_.log().empty()) << driver_.log().front();
  EXPECT_EQ(driver_.totals().unsettled, 0u) << "the delivery is not cancelled";
}

TEST_F(ShardLeases, AnAcquiredPartIsWorked) {
  acquire(1);
  const WebhookId webhook = add(part);
  const Delivery delivery = driver_.admit(webhook);
  EXPECT_EQ(only_start().delivery.id, delivery.id);
  add(other_part);
  EXPECT_EQ(driver_.totals().lanes, 1u);
}

TEST_F(ShardLeases, TheBacklogOfAnAcquiredPartIsLoaded) {
  acquire(1);
  const WebhookId webhook = id_in(part, 0);
  Webhook stored;
  stored.id = webhook;
  driver_.feed(WebhookChanged{.webhook = std::make_shared<const Webhook>(stored),
                              .backlog_due = driver_.wall(),
                              .at_start = true});
  EXPECT_EQ(driver_.take<LoadLane>().at(0).webhook_id, webhook);
}

TEST_F(ShardLeases, ADeliveryThatComesBeforeItsWebhookIsLoadedLater) {
  acquire(1);
  const WebhookId webhook = id_in(part, 0);
  const Delivery delivery = driver_.admit(webhook);
  EXPECT_EQ(driver_.totals().unsettled, 0u) << "it is not cancelled";
  EXPECT_TRUE(driver_.take<LoadLane>().empty());
  add(part);
  EXPECT_EQ(driver_.take<LoadLane>().at(0).webhook_id, webhook);
  driver_.load(webhook, {delivery});
  EXPECT_EQ(only_start().delivery.id, delivery.id);
}

TEST_F(ShardLeases, ACommandThatComesBeforeItsLaneWaitsForIt) {
  acquire(1);
  const WebhookId webhook = id_in(part, 0);
  driver_.feed(CircuitCommanded{.webhook_id = webhook, .action = CircuitAction::force_open});
  EXPECT_TRUE(driver_.log().empty()) << driver_.log().front();
  add(part);
  EXPECT_TRUE(driver_.take<SaveCircuit>().at(0).record.forced_open);
  lose(1);
  EXPECT_TRUE(driver_.take<CircuitCommandReturned>().empty()) << "it was followed";
}

TEST_F(ShardLeases, ACommandWithoutALaneIsReturnedBeforeThePartIsHandedBack) {
  acquire(1);
  const WebhookId busy = add(part);
  const CircuitCommanded command{.webhook_id = add(part), .action = CircuitAction::force_open};
  driver_.admit(busy);
  const StartAttempt start = only_start();
  lose(1);
  ASSERT_FALSE(has_lane(command.webhook_id));
  driver_.feed(CircuitCommanded{.webhook_id = command.webhook_id, .action = CircuitAction::reset});
  driver_.feed(command);
  EXPECT_TRUE(driver_.take<CircuitCommandReturned>().empty());
  driver_.finish_and_settle(start, answered(200));
  const std::vector<CircuitCommandReturned> latest{{command}};
  EXPECT_EQ(driver_.take<CircuitCommandReturned>(), latest);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_EQ(driver_.log().back(), "handed back 7");
  driver_.feed(command);
  EXPECT_EQ(driver_.take<CircuitCommandReturned>(), latest) << "another node may have the part";
}

TEST_F(ShardLeases, ACommandFollowsItsWebhook) {
  acquire(1);
  const CircuitCommanded command{.webhook_id = id_in(part, 0), .action = CircuitAction::reset};
  driver_.feed(command);
  driver_.feed(WebhookRemoved{.webhook_id = command.webhook_id});
  EXPECT_TRUE(driver_.take<CircuitCommandReturned>().empty());
  driver_.feed(command);
  driver_.feed(WebhookRemoved{.webhook_id = command.webhook_id, .handed_over = true});
  EXPECT_EQ(driver_.take<CircuitCommandReturned>(),
            (std::vector<CircuitCommandReturned>{{command}}));
}

TEST_F(ShardLeases, ADeliveryOfARemovedWebhookIsLeftToTheStore) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  driver_.feed(WebhookRemoved{webhook});
  driver_.admit(webhook);
  EXPECT_TRUE(driver_.take<Settle>().empty());
  driver_.finish_and_settle(start, answered(200));
  EXPECT_FALSE(has_lane(webhook));
  driver_.admit(webhook);
  EXPECT_EQ(driver_.take<Settle>().size(), 1u) << "only the attempt";
}

TEST_F(ShardLeases, AWebhookThatIsHandedOverKeepsItsDeliveries) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  driver_.feed(WebhookRemoved{.webhook_id = webhook, .handed_over = true});
  driver_.admit(webhook);
  EXPECT_TRUE(nothing_started());
  driver_.finish_and_settle(start, answered(503));
  EXPECT_EQ(driver_.take<Settle>().at(0).settlement.delivery.state, DeliveryState::retrying);
  EXPECT_FALSE(has_lane(webhook));
}

TEST_F(ShardLeases, AWebhookThatComesBackBeforeItsLaneIsGoneIsWorked) {
  acquire(1);
  Webhook stored;
  stored.id = id_in(part, 0);
  const WebhookChanged changed{.webhook = std::make_shared<const Webhook>(stored),
                               .backlog_due = driver_.wall(),
                               .at_start = true};
  driver_.feed(WebhookChanged{.webhook = changed.webhook});
  driver_.admit(stored.id);
  const StartAttempt start = only_start();
  driver_.feed(WebhookRemoved{.webhook_id = stored.id, .handed_over = true});
  driver_.feed(changed);
  driver_.finish_and_settle(start, answered(200));
  EXPECT_TRUE(has_lane(stored.id));
  EXPECT_EQ(driver_.take<LoadLane>().at(0).webhook_id, stored.id);
}

// ---------------------------------------------------------------- lost, with time to finish

TEST_F(ShardLeases, APartWithNothingInFlightIsHandedBackAtOnce) {
  acquire(1);
  const WebhookId webhook = add(part, [](Webhook& each) { each.paused = true; });
  driver_.admit(webhook);
  lose(1);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_FALSE(has_lane(webhook));
  EXPECT_TRUE(driver_.take<EndAttempts>().empty());
}

TEST_F(ShardLeases, ALostPartIsHandedBackWhenItsAttemptsAreSettled) {
  acquire(1);
  const WebhookId webhook = add(part, [](Webhook& each) { each.max_in_flight = 1; });
  driver_.admit_many(webhook, 3);
  const StartAttempt start = only_start();
  lose(1);
  EXPECT_EQ(driver_.view(webhook).blocked, BlockReason::drain);
  EXPECT_EQ(driver_.view(webhook).window_count, 0u);
  driver_.finish(start, answered(200));
  EXPECT_TRUE(nothing_started());
  EXPECT_EQ(handed_back(), 0u) << "not settled yet";
  driver_.settled(driver_.take<Settle>().at(0).settlement);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_EQ(driver_.totals().lanes, 0u);
  EXPECT_EQ(driver_.totals().waiting, ShardView{}.waiting);
}

TEST_F(ShardLeases, ARetryOfALostPartIsLeftToTheNextOwner) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  lose(1);
  driver_.finish_and_settle(start, answered(503));
  EXPECT_EQ(driver_.take<Settle>().at(0).settlement.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_FALSE(has_lane(webhook));
}

TEST_F(ShardLeases, AnAbandonedAttemptOfALostPartIsNotRepeated) {
  acquire(1);
  driver_.admit(add(part));
  const StartAttempt start = only_start();
  lose(1);
  abandon(start);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_TRUE(driver_.take<Settle>().empty());
}

TEST_F(ShardLeases, OtherPartsAreNotAffected) {
  acquire(1);
  acquire(1, other_part);
  driver_.admit(add(part));
  const WebhookId kept = add(other_part);
  (void)driver_.take<StartAttempt>();
  lose(1);
  driver_.admit(kept);
  EXPECT_EQ(only_start().delivery.webhook_id, kept);
}

TEST_F(ShardLeases, AReceiverThatIsGoneIsDisabledByTheOldOwner) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  lose(1);
  driver_.finish(start, answered(410));
  EXPECT_EQ(driver_.take<DisableWebhook>().at(0).webhook_id, webhook);
}

TEST_F(ShardLeases, DeliveriesAndPagesThatComeForAnEndingPartAreLeftToTheStore) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  driver_.feed(WebhookChanged{.webhook = driver_.webhook(webhook), .backlog_due = driver_.wall()});
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
  lose(1);
  driver_.admit(webhook);
  driver_.load(webhook, {driver_.make(webhook)});
  EXPECT_TRUE(nothing_started());
  EXPECT_EQ(driver_.totals().waiting, ShardView{}.waiting);
  driver_.finish_and_settle(start, answered(200));
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, ARevivalThatComesWhileAPartEndsDoesNotKeepIt) {
  acquire(1);
  const WebhookId webhook = add(part);
  Delivery delivery = driver_.admit(webhook);
  const StartAttempt start = only_start();
  lose(1);
  delivery.revivals = 1;
  driver_.feed(Admitted{{delivery}});
  driver_.finish_and_settle(start, answered(503));
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, AnEditOfAWebhookWhosePartEndsStillAppliesToItsAttempts) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  lose(1);
  driver_.change_webhook(webhook, [](Webhook& each) { each.retry.attempts_max = 1; });
  EXPECT_EQ(driver_.take<Reschedule>().size(), 1u);
  driver_.finish(start, answered(503));
  EXPECT_EQ(driver_.take<Settle>().at(0).settlement.delivery.state, DeliveryState::dead_letter);
  EXPECT_FALSE(has_lane(add(part))) << "no lane is added";
}

TEST_F(ShardLeases, AWebhookThatIsRemovedWhileItsPartEndsDoesNotKeepIt) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  driver_.feed(WebhookRemoved{webhook});
  lose(1);
  EXPECT_EQ(handed_back(), 0u);
  driver_.finish_and_settle(start, answered(200));
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, AFailedSettlementOfAnEndingPartIsSubmittedAgain) {
  acquire(1);
  driver_.admit(add(part));
  const StartAttempt start = only_start();
  lose(1);
  driver_.finish(start, answered(200));
  driver_.store_failed(driver_.take<Settle>().at(0).settlement);
  EXPECT_EQ(handed_back(), 0u);
  ASSERT_TRUE(driver_.ring_next());
  const std::vector<Settle> again = driver_.take<Settle>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].is_resubmission);
  driver_.settled(again[0].settlement);
  EXPECT_EQ(handed_back(), 1u);
}

// ---------------------------------------------------------------- lost at once

TEST_F(ShardLeases, APartThatIsLostAtOnceEndsItsAttempts) {
  acquire(1);
  driver_.admit(add(part));
  const StartAttempt start = only_start();
  lose(1, true);
  EXPECT_EQ(driver_.take<EndAttempts>(), std::vector<EndAttempts>{{part}});
  EXPECT_EQ(handed_back(), 0u);
  abandon(start);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_TRUE(driver_.take<Settle>().empty());
}

TEST_F(ShardLeases, AnAttemptThatEndsAfterThePartWasLostAtOnceIsNotRecorded) {
  acquire(1);
  driver_.admit(add(part));
  const StartAttempt start = only_start();
  lose(1, true);
  driver_.finish(start, answered(200));
  EXPECT_TRUE(driver_.take<Settle>().empty());
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_EQ(driver_.totals().in_flight, 0u);
}

TEST_F(ShardLeases, UnsettledSettlementsOfAPartThatIsLostAtOnceAreForgotten) {
  acquire(1);
  acquire(1, other_part);
  driver_.admit(add(part));
  driver_.finish(only_start(), answered(200));
  driver_.admit(add(other_part));
  driver_.finish(only_start(), answered(200));
  const std::vector<Settle> settles = driver_.take<Settle>();
  driver_.store_failed(settles.at(0).settlement);
  driver_.store_failed(settles.at(1).settlement);
  lose(1, true);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_EQ(driver_.totals().unsettled, 1u);
  ASSERT_TRUE(driver_.ring_next());
  const std::vector<Settle> again = driver_.take<Settle>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(shard_of(again[0].settlement.delivery.webhook_id), other_part);
  driver_.settled(settles.at(0).settlement);  // A late answer does no harm.
  EXPECT_EQ(handed_back(), 0u);
}

TEST_F(ShardLeases, ASecondLossAtOnceHurriesTheFirst) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit_many(webhook, 2);
  const std::vector<StartAttempt> starts = driver_.take<StartAttempt>();
  ASSERT_EQ(starts.size(), 2u);
  lose(1);
  driver_.finish(starts[0], answered(200));
  EXPECT_TRUE(driver_.take<EndAttempts>().empty());
  lose(1, true);
  EXPECT_EQ(driver_.take<EndAttempts>().size(), 1u);
  EXPECT_EQ(driver_.totals().unsettled, 0u);
  lose(1, true);
  EXPECT_TRUE(driver_.take<EndAttempts>().empty()) << "once is enough";
  abandon(starts[1]);
  EXPECT_EQ(handed_back(), 1u);
}

// ---------------------------------------------------------------- in which order they come

TEST_F(ShardLeases, APartThatIsNotWorkedIsHandedBackAtOnceAndOncePerEpoch) {
  lose(3);
  EXPECT_EQ(handed_back(), 1u);
  lose(3, true);
  EXPECT_EQ(handed_back(), 0u);
  lose(4);
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, AnAcquisitionThatWasLostBeforeItCameIsIgnored) {
  lose(2, true);
  acquire(2);
  EXPECT_FALSE(has_lane(add(part)));
  acquire(1);
  EXPECT_FALSE(has_lane(add(part)));
  acquire(3);
  EXPECT_TRUE(has_lane(add(part)));
}

TEST_F(ShardLeases, ALossThatHurriesAPartThatWasHandedBackIsNotAnswered) {
  acquire(1);
  lose(1);
  EXPECT_EQ(handed_back(), 1u);
  lose(1, true);
  EXPECT_EQ(handed_back(), 0u);
  EXPECT_TRUE(driver_.take<EndAttempts>().empty());
}

TEST_F(ShardLeases, ALossOfAnOlderEpochIsIgnored) {
  acquire(5);
  const WebhookId webhook = add(part);
  lose(4, true);
  EXPECT_EQ(handed_back(), 0u);
  EXPECT_TRUE(has_lane(webhook));
}

TEST_F(ShardLeases, APartThatIsAcquiredAgainStartsAnew) {
  acquire(1);
  const RateLimit limit{.count = 1, .period = 1s, .burst = 5};
  const WebhookId webhook = add(part, [&](Webhook& each) { each.rate_limit = limit; });
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  lose(1, true);
  abandon(start);
  EXPECT_EQ(handed_back(), 1u);
  acquire(2);
  driver_.feed(WebhookChanged{
      .webhook = driver_.webhook(webhook), .backlog_due = driver_.wall(), .at_start = true});
  driver_.load(webhook, {start.delivery});
  EXPECT_TRUE(nothing_started()) << "the former owner may have used all tokens (P7)";
  driver_.ring_after(1s);
  EXPECT_EQ(only_start().delivery.id, start.delivery.id);
  lose(2);
  driver_.finish_and_settle(start, answered(200));
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, APageThatWasAskedForBeforeTheLossIsNotUsedAfterwards) {
  acquire(1);
  const WebhookId webhook = add(part);
  const WebhookChanged backlog{.webhook = driver_.webhook(webhook), .backlog_due = driver_.wall()};
  driver_.feed(backlog);
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
  lose(1);
  acquire(2);
  driver_.feed(backlog);
  EXPECT_TRUE(driver_.take<LoadLane>().empty()) << "one load at a time";
  driver_.load(webhook, {driver_.make(webhook)});
  EXPECT_TRUE(nothing_started());
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u) << "loaded again";
}

// ---------------------------------------------------------------- with other inputs

TEST_F(ShardLeases, APartIsHandedBackWhileTheShardDrains) {
  acquire(1);
  driver_.admit(add(part));
  const StartAttempt start = only_start();
  driver_.feed(DrainRequested{});
  lose(1);
  driver_.finish(start, answered(200));
  EXPECT_TRUE(driver_.take<Drained>().empty());
  driver_.settled(driver_.take<Settle>().at(0).settlement);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_EQ(driver_.take<Drained>().size(), 1u);
}

TEST_F(ShardLeases, APartIsHandedBackAfterTheShardHasDrained) {
  acquire(1);
  driver_.admit(add(part));
  driver_.finish(only_start(), answered(200));
  driver_.store_failed(driver_.take<Settle>().at(0).settlement);
  driver_.feed(DrainRequested{});
  EXPECT_EQ(driver_.take<Drained>().size(), 1u) << "it does not wait for the store";
  lose(1);
  EXPECT_EQ(handed_back(), 0u);
  lose(1, true);
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, APartOfASuspendedTenantIsHandedBackAndAcquired) {
  const auto suspend = [&](bool suspended) {
    driver_.feed(TenantSuspension{.tenant_id = "acme", .suspended = suspended});
  };
  acquire(1);
  const WebhookId webhook = add(part, [](Webhook& each) { each.tenant_id = "acme"; });
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  suspend(true);
  lose(1);
  driver_.finish_and_settle(start, answered(200));
  EXPECT_EQ(handed_back(), 1u);
  acquire(2);
  driver_.feed(WebhookChanged{.webhook = driver_.webhook(webhook), .at_start = true});
  driver_.admit(webhook);
  EXPECT_TRUE(nothing_started());
  suspend(false);
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
}

TEST_F(ShardLeases, AReservedSlotOfATenantWithoutLanesIsNotUsed) {
  acquire(1);
  const WebhookId webhook = add(part, [](Webhook& each) { each.tenant_id = "acme"; });
  lose(1);
  driver_.feed(SlotReserved{.tenant_id = "acme", .host = {}});
  driver_.admit(webhook);
  EXPECT_TRUE(nothing_started());
}

TEST_F(ShardLeases, TheLoadOfATenantFollowsItsLanes) {
  acquire(1);
  driver_.admit(add(part, [](Webhook& each) { each.tenant_id = "acme"; }));
  EXPECT_EQ(driver_.shard().take_tenant_load_changes().at("acme").in_flight, 1);
  lose(1, true);
  abandon(only_start());
  EXPECT_EQ(driver_.shard().take_tenant_load_changes().at("acme").in_flight, -1);
  EXPECT_EQ(driver_.totals().circuits, ShardView{}.circuits);
}

TEST_F(ShardLeases, ALaneThatMayNotSendWaitsALittle) {
  acquire(1);
  const WebhookId webhook = add(part, [](Webhook& each) { each.max_in_flight = 2; });
  driver_.admit_many(webhook, 10);
  for (const StartAttempt& start : driver_.take<StartAttempt>()) {
    driver_.feed(AttemptAbandoned{
        .webhook_id = webhook, .delivery_id = start.delivery.id, .not_permitted = true});
  }
  EXPECT_TRUE(nothing_started()) << "not the other eight either";
  ASSERT_TRUE(driver_.ring_next());
  EXPECT_EQ(driver_.take<StartAttempt>().size(), 2u);
}

class ShardLeasesOfOneHost : public ShardLeases {
 protected:
  ShardLeasesOfOneHost() : ShardLeases({.host_in_flight_max = 1}) {}
};

TEST_F(ShardLeasesOfOneHost, ALostLaneNoLongerWaitsForItsHost) {
  acquire(1);
  acquire(1, other_part);
  const auto at_host = [](Webhook& each) { each.url = "https://one.example/"; };
  const WebhookId first = add(other_part, at_host);
  const WebhookId lost = add(part, at_host);
  const WebhookId last = add(other_part, at_host);
  for (const WebhookId webhook : {first, lost, last}) {
    driver_.admit(webhook);
  }
  const StartAttempt start = only_start();
  EXPECT_EQ(start.delivery.webhook_id, first);
  lose(1);
  EXPECT_EQ(handed_back(), 1u);
  driver_.finish_and_settle(start, answered(200));
  EXPECT_EQ(only_start().delivery.webhook_id, last);
}

}  // namespace
}  // namespace postrider
