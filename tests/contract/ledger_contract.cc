// What a commit does: publishes, idempotency, settlements, revivals, cancels.
#include <string>
#include <variant>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

const DeadReason gone{Classification::permanent, "permanent_client_error_404"};

}  // namespace

TEST_P(LedgerContract, AnEmptyBatchIsFine) {
  const BatchReceipt receipt = commit({});
  EXPECT_TRUE(receipt.publishes.empty());
}

TEST_P(LedgerContract, APublishIsAcceptedWithOneSequencePerDelivery) {
  const Publish wanted = script_.publish({first_, second_});
  const BatchReceipt receipt = commit({.publishes = {wanted}});
  const auto& deliveries = std::get<Accepted>(receipt.publishes.at(0)).deliveries;

  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_LT(0, deliveries[0].sequence);
  EXPECT_LT(deliveries[0].sequence, deliveries[1].sequence);
  for (std::size_t i = 0; i < 2; ++i) {
    Delivery expected = wanted.deliveries[i];
    expected.sequence = deliveries[i].sequence;
    EXPECT_EQ(deliveries[i], expected);
    EXPECT_EQ(record(expected.id).delivery, expected);
  }
}

TEST_P(LedgerContract, SequencesGrowInCommitOrderAlsoAcrossReopening) {  // P4
  const std::int64_t a = accept(first_).sequence;
  publish({});
  const std::int64_t b = accept(second_).sequence;
  store_->reopen();
  const std::int64_t c = accept(first_).sequence;
  EXPECT_LT(a, b);
  EXPECT_LT(b, c);
}

TEST_P(LedgerContract, AnEventIsKeptByteForByte) {
  Publish publish = script_.publish({first_});
  publish.event.data = "{\"b\" : 1.50,\t\"a\":[\"\\u0000\", \"\xc3\xa9\"] }";
  publish.event.metadata = "{ \"k\": \"v\" }";
  publish.event.resource_id = "";
  publish.event.source = "shop";
  publish.event.ordering_key = "order-1";
  publish.event.priority = Priority::high;
  commit({.publishes = {publish}});

  store_->reopen();
  const Result<std::vector<Event>> events = ledger().load_events({publish.event.id});
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ(as_published(events->front()), publish.event);
}

TEST_P(LedgerContract, ALargeEventIsKept) {
  const std::string large = '"' + std::string(300'000, 'x') + '"';
  const Publish publish = script_.publish({first_}, {.data = large});
  commit({.publishes = {publish}});
  const Result<std::vector<Event>> events = ledger().load_events({publish.event.id});
  ASSERT_TRUE(events.has_value());
  EXPECT_EQ(events->at(0).data, large);
}

TEST_P(LedgerContract, EventsAreLoadedInTheOrderAskedForWithoutMissingOnes) {
  const Publish a = script_.publish({first_});
  const Publish b = script_.publish({});
  const Publish never = script_.publish({first_});
  commit({.publishes = {a, b}});
  const Result<std::vector<Event>> events =
      ledger().load_events({b.event.id, never.event.id, a.event.id});
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ(as_published(events->at(0)), b.event);
  EXPECT_EQ(as_published(events->at(1)), a.event);
}

TEST_P(LedgerContract, AnEventsSequenceIsItsPlaceInPublishOrderForGood) {
  const Publish a = script_.publish({first_, second_});
  const Publish none = script_.publish({});
  const Publish b = script_.publish({first_});
  const BatchReceipt receipt = commit({.publishes = {a, none, b}});
  const std::int64_t first = std::get<Accepted>(receipt.publishes[0]).deliveries.front().sequence;
  const std::vector<EventId> ids{a.event.id, none.event.id, b.event.id};
  for (int time = 0; time < 2; ++time) {
    const Result<std::vector<Event>> events = ledger().load_events(ids);
    ASSERT_TRUE(events.has_value());
    EXPECT_EQ(events->at(0).sequence, first);
    EXPECT_EQ(events->at(1).sequence, first + 2);
    EXPECT_EQ(events->at(2).sequence, first + 3);
    EXPECT_EQ(history().find_event(b.event.id)->sequence, first + 3);
    store_->reopen();
  }
}

// ---------------------------------------------------------------- how many wait

TEST_P(LedgerContract, WhatWaitsIsCountedAlong) {
  std::int64_t waiting = 0;
  const auto expect_change = [&](const BatchReceipt& receipt, std::int64_t change) {
    EXPECT_EQ(receipt.waiting_change, change);
    waiting += change;
    EXPECT_EQ(*ledger().count_waiting(), static_cast<std::uint64_t>(waiting));
  };
  EXPECT_EQ(*ledger().count_waiting(), 0u);
  const Publish publish = script_.publish({first_, second_, first_}, {.key = "k"});
  const BatchReceipt published = commit({.publishes = {publish, script_.publish({})}});
  expect_change(published, 3);
  expect_change(commit({.publishes = {publish}}), 0);  // A duplicate.

  const std::vector<Delivery> deliveries = std::get<Accepted>(published.publishes[0]).deliveries;
  expect_change(commit({.settlements = {script_.retry(deliveries[0], script_.now)}}), 0);
  const Settlement done = script_.success(deliveries[1]);
  expect_change(commit({.settlements = {done}}), -1);
  expect_change(commit({.settlements = {done}}), 0);  // Asked for again after a lost answer.

  const Revive revival{.delivery_id = deliveries[1].id, .now = script_.now, .priority = {}};
  expect_change(commit({.revivals = {revival}}), 1);
  expect_change(commit({.revivals = {revival}}), 0);  // It waits already.
  const Cancel cancel{.delivery_id = deliveries[1].id, .now = script_.now};
  expect_change(commit({.cancels = {cancel}}), -1);
  expect_change(commit({.cancels = {cancel}}), 0);

  Delivery tried = deliveries[0];
  tried.attempt_count = 1;
  expect_change(commit({.settlements = {script_.death(tried, {})}}), -1);
  const Cancel discard{
      .delivery_id = deliveries[0].id, .now = script_.now, .of = CancelOf::dead_letter};
  expect_change(commit({.cancels = {discard}}), 0);
  store_->reopen();
  EXPECT_EQ(*ledger().count_waiting(), 1u);
}

// ---------------------------------------------------------------- idempotency (P3)

TEST_P(LedgerContract, TheSameKeyTwiceIsOneEvent) {
  const Publish first = script_.publish({first_, second_}, {.key = "k"});
  const Publish second = script_.publish({first_, second_}, {.key = "k"});
  commit({.publishes = {first}});
  const BatchReceipt receipt = commit({.publishes = {second}});

  const Duplicate duplicate = std::get<Duplicate>(receipt.publishes.at(0));
  EXPECT_EQ(duplicate.first_id, first.event.id);
  EXPECT_EQ(duplicate.first_deliveries, 2u);
  EXPECT_TRUE(duplicate.same_body);
  EXPECT_FALSE(duplicate.finished);
  EXPECT_EQ(history().find_event(second.event.id).error().code, Errc::not_found);
}

TEST_P(LedgerContract, TheSameKeyTwiceInOneBatchIsOneEvent) {
  const Publish first = script_.publish({first_}, {.key = "k"});
  const Publish second = script_.publish({first_}, {.key = "k", .body_digest = "other"});
  const BatchReceipt receipt = commit({.publishes = {first, second}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  const Duplicate duplicate = std::get<Duplicate>(receipt.publishes.at(1));
  EXPECT_EQ(duplicate.first_id, first.event.id);
  EXPECT_FALSE(duplicate.same_body);
}

TEST_P(LedgerContract, AKeySurvivesReopening) {
  publish({first_}, {.key = "k"});
  store_->reopen();
  EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({first_}, {.key = "k"})));
}

TEST_P(LedgerContract, AKeyBelongsToItsTenant) {
  publish({first_}, {.tenant_id = "acme", .key = "k"});
  EXPECT_TRUE(
      std::holds_alternative<Accepted>(publish({first_}, {.tenant_id = "other", .key = "k"})));
}

TEST_P(LedgerContract, AnEventIsFinishedWhenNoneOfItsDeliveriesWaits) {
  const PublishReceipt first = publish({first_, second_}, {.key = "k"});
  const std::vector<Delivery> deliveries = std::get<Accepted>(first).deliveries;
  settle(script_.success(deliveries[0]));
  EXPECT_FALSE(std::get<Duplicate>(publish({first_}, {.key = "k"})).finished);
  settle(script_.death(deliveries[1], gone));
  EXPECT_TRUE(std::get<Duplicate>(publish({first_}, {.key = "k"})).finished);
}

TEST_P(LedgerContract, AnEventThatNobodyWantedIsFinishedAtOnce) {
  publish({}, {.key = "k"});
  const Duplicate duplicate = std::get<Duplicate>(publish({}, {.key = "k"}));
  EXPECT_TRUE(duplicate.finished);
  EXPECT_EQ(duplicate.first_deliveries, 0u);
}

TEST_P(LedgerContract, AKeyIsFreeAgainFromTheMomentItsClaimExpires) {
  publish({first_}, {.key = "k"});
  script_.now += StoreScript::claim_life - Millis{1};
  EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({first_}, {.key = "k"})));
  script_.now += Millis{1};
  EXPECT_TRUE(std::holds_alternative<Accepted>(publish({first_}, {.key = "k"})));
  EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({first_}, {.key = "k"})));
}

TEST_P(LedgerContract, ManyKeysComeAndGo) {
  for (int day = 0; day < 3; ++day) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = "k" + std::to_string(i);
      EXPECT_TRUE(std::holds_alternative<Accepted>(publish({}, {.key = key}))) << key;
      EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({}, {.key = key}))) << key;
    }
    script_.now += StoreScript::claim_life;
  }
}

TEST_P(LedgerContract, AnAtomicGroupIsStoredWhole) {
  const BatchReceipt receipt =
      commit({.publishes = {script_.publish({first_}, {.key = "a", .atomic_group = 5}),
                            script_.publish({first_}, {.atomic_group = 5}),
                            script_.publish({first_}, {.key = "a", .atomic_group = 5})}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(1)));
  EXPECT_TRUE(std::get<Duplicate>(receipt.publishes.at(2)).same_body);
}

TEST_P(LedgerContract, RepeatsWithinAGroupAllNameTheFirst) {
  const Publish first = script_.publish({first_}, {.key = "k", .atomic_group = 5});
  const BatchReceipt receipt =
      commit({.publishes = {first, script_.publish({}, {.key = "k", .atomic_group = 5}),
                            script_.publish({}, {.key = "k", .atomic_group = 5})}});
  for (const std::size_t i : {1u, 2u}) {
    const Duplicate duplicate = std::get<Duplicate>(receipt.publishes.at(i));
    EXPECT_EQ(duplicate.first_id, first.event.id);
    EXPECT_EQ(duplicate.first_deliveries, 1u);
    EXPECT_FALSE(duplicate.finished);
  }
}

TEST_P(LedgerContract, AReusedKeyTakesItsWholeAtomicGroupDown) {
  publish({first_}, {.key = "used"});
  publish({first_}, {.key = "repeated"});
  const Publish outside = script_.publish({second_});
  const Publish fresh = script_.publish({first_}, {.key = "fresh", .atomic_group = 5});
  const Publish repeated = script_.publish({first_}, {.key = "repeated", .atomic_group = 5});
  const Publish twin = script_.publish({first_}, {.key = "fresh", .atomic_group = 5});
  const Publish reused =
      script_.publish({first_}, {.key = "used", .body_digest = "other", .atomic_group = 5});
  const Publish next_group = script_.publish({second_}, {.atomic_group = 6});
  const BatchReceipt receipt =
      commit({.publishes = {outside, fresh, repeated, twin, reused, next_group}});

  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  EXPECT_TRUE(std::holds_alternative<Refused>(receipt.publishes.at(1)));
  EXPECT_TRUE(std::get<Duplicate>(receipt.publishes.at(2)).same_body);
  EXPECT_TRUE(std::holds_alternative<Refused>(receipt.publishes.at(3)));
  EXPECT_FALSE(std::get<Duplicate>(receipt.publishes.at(4)).same_body);
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(5)));
  EXPECT_EQ(history().find_event(fresh.event.id).error().code, Errc::not_found);
  EXPECT_TRUE(std::holds_alternative<Accepted>(publish({first_}, {.key = "fresh"})));
}

TEST_P(LedgerContract, AKeyReusedWithinItsAtomicGroupTakesItDown) {
  const Publish first = script_.publish({first_}, {.key = "k", .atomic_group = 5});
  const Publish second =
      script_.publish({first_}, {.key = "k", .body_digest = "other", .atomic_group = 5});
  const BatchReceipt receipt = commit({.publishes = {first, second}});
  EXPECT_TRUE(std::holds_alternative<Refused>(receipt.publishes.at(0)));
  EXPECT_FALSE(std::get<Duplicate>(receipt.publishes.at(1)).same_body);
  EXPECT_TRUE(std::holds_alternative<Accepted>(publish({first_}, {.key = "k"})));
}

// ---------------------------------------------------------------- settlements

TEST_P(LedgerContract, ASettlementMovesTheDeliveryAndKeepsTheAttempt) {
  const Delivery delivery = accept(first_);
  script_.now += Millis{100};
  const Settlement retry = script_.retry(delivery, script_.now + Millis{30'000});
  settle(retry);

  const DeliveryRecord waiting = record(delivery.id);
  EXPECT_EQ(waiting.delivery, retry.delivery);
  EXPECT_EQ(waiting.created_at, store_epoch);
  EXPECT_EQ(waiting.updated_at, script_.now + Millis{2});  // The attempt took 2.5 ms.
  EXPECT_EQ(waiting.completed_at, std::nullopt);
  EXPECT_EQ(waiting.last_failure, FailureCategory::server_error);
  EXPECT_EQ(waiting.last_http_status, 500);

  script_.now += Millis{30'000};
  const Settlement success = script_.success(waiting.delivery);
  settle(success);
  const DeliveryRecord done = record(delivery.id);
  EXPECT_EQ(done.delivery, success.delivery);
  EXPECT_EQ(done.completed_at, script_.now + Millis{2});
  EXPECT_EQ(done.last_failure, std::nullopt);
  EXPECT_EQ(done.last_http_status, 200);
  EXPECT_EQ(done.dead, std::nullopt);
  EXPECT_EQ(attempts(delivery.id), (std::vector<Attempt>{*retry.attempt, *success.attempt}));
}

TEST_P(LedgerContract, ADeadLetterKeepsItsReason) {
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  EXPECT_EQ(record(delivery.id).dead, gone);
}

TEST_P(LedgerContract, AnAttemptWithoutAResponseIsKept) {
  const Delivery delivery = accept(first_);
  Settlement settlement = script_.retry(delivery, script_.now);
  settlement.attempt->outcome = {.failure = FailureCategory::dns,
                                 .error_message = "No such host.",
                                 .executed_at = script_.now};
  settlement.attempt->failure_category = FailureCategory::dns;
  settle(settlement);
  EXPECT_EQ(attempts(delivery.id), (std::vector<Attempt>{*settlement.attempt}));
  EXPECT_EQ(record(delivery.id).last_failure, FailureCategory::dns);
  EXPECT_EQ(record(delivery.id).last_http_status, std::nullopt);
}

TEST_P(LedgerContract, SettlingTwiceChangesNothing) {
  const Delivery delivery = accept(first_);
  const Settlement settlement = script_.retry(delivery, script_.now + Millis{5});
  settle(settlement);
  const DeliveryRecord before = record(delivery.id);
  commit({.settlements = {settlement, settlement}});
  EXPECT_EQ(record(delivery.id), before);
  EXPECT_EQ(attempts(delivery.id).size(), 1u);
}

TEST_P(LedgerContract, AnEarlierSettlementThatComesAgainChangesNothing) {
  const Delivery delivery = accept(first_);
  const Settlement first = script_.retry(delivery, script_.now + Millis{5});
  const Settlement second = script_.retry(first.delivery, script_.now + Millis{9});
  commit({.settlements = {first, second}});
  const DeliveryRecord before = record(delivery.id);
  settle(first);
  EXPECT_EQ(record(delivery.id), before);
  EXPECT_EQ(attempts(delivery.id).size(), 2u);
}

TEST_P(LedgerContract, AFinalDeliveryStaysFinalButItsLateAttemptIsRecorded) {
  const Delivery delivery = accept(first_);
  ASSERT_TRUE(cancel(delivery.id).has_value());
  settle(script_.success(delivery));
  const DeliveryRecord cancelled = record(delivery.id);
  EXPECT_EQ(cancelled.delivery.state, DeliveryState::cancelled);
  EXPECT_EQ(cancelled.delivery.attempt_count, 1u);  // So that a revival goes on with number 2.
  EXPECT_EQ(cancelled.last_http_status, 200);
  EXPECT_EQ(attempts(delivery.id).size(), 1u);
}

TEST_P(LedgerContract, ASettlementWithoutAnAttemptClosesTheDelivery) {
  const Delivery delivery = accept(first_);
  Settlement settlement{.delivery = delivery, .dead = gone};
  settlement.delivery.state = DeliveryState::dead_letter;
  settle(settlement);
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::dead_letter);
  EXPECT_EQ(record(delivery.id).completed_at, delivery.due);
  EXPECT_TRUE(attempts(delivery.id).empty());
}

TEST_P(LedgerContract, SettlementsOfUnknownDeliveriesAreIgnored) {
  const Delivery known = accept(first_);
  Delivery unknown = known;
  unknown.id = script_.publish({first_}).deliveries.front().id;
  settle(script_.success(unknown));  // Same sequence, another id.
  unknown.sequence += 1'000;
  settle(script_.success(unknown));
  EXPECT_EQ(record(known.id).delivery, known);
  EXPECT_TRUE(attempts(known.id).empty());
  EXPECT_TRUE(attempts(unknown.id).empty());
}

TEST_P(LedgerContract, ABatchPublishesBeforeItSettlesRevivesAndCancels) {
  const Delivery done = accept(first_);
  settle(script_.success(done));
  const Delivery waiting = accept(first_);
  const BatchReceipt receipt =
      commit({.publishes = {script_.publish({second_})},
              .settlements = {script_.death(waiting, gone)},
              .revivals = {{waiting.id, script_.now, {}, {}}},
              .cancels = {{waiting.id, script_.now}, {done.id, script_.now}}});
  EXPECT_TRUE(receipt.revivals.at(0).has_value());
  EXPECT_TRUE(receipt.cancels.at(0).has_value());
  EXPECT_EQ(receipt.cancels.at(1).error().code, Errc::conflict);
  EXPECT_EQ(record(waiting.id).delivery.state, DeliveryState::cancelled);
}

// ---------------------------------------------------------------- revivals and cancels

TEST_P(LedgerContract, ARevivedDeliveryIsDueAtOnceWithAFreshBudgetAndItsHistory) {
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  script_.now += Millis{1'000};
  const Result<Delivery> revived = revive({.delivery_id = delivery.id,
                                           .now = script_.now,
                                           .priority = Priority::high,
                                           .trigger = Trigger::replay});
  ASSERT_TRUE(revived.has_value());
  Delivery expected = delivery;
  expected.state = DeliveryState::pending;
  expected.priority = Priority::high;
  expected.trigger = Trigger::replay;
  expected.due = script_.now;
  expected.attempt_count = 1;
  expected.budget_used = 0;
  expected.revivals = 1;
  EXPECT_EQ(*revived, expected);

  const DeliveryRecord stored = record(delivery.id);
  EXPECT_EQ(stored.delivery, expected);
  EXPECT_EQ(stored.updated_at, script_.now);
  EXPECT_EQ(stored.completed_at, std::nullopt);
  EXPECT_EQ(stored.dead, std::nullopt);
  EXPECT_EQ(attempts(delivery.id).size(), 1u);
}

TEST_P(LedgerContract, ARevivedWaitingDeliveryKeepsItsStateAndPriority) {
  const Delivery delivery = accept(first_, {.priority = Priority::low});
  settle(script_.retry(delivery, script_.now + Millis{60'000}));
  const Result<Delivery> revived = revive({.delivery_id = delivery.id, .now = script_.now});
  ASSERT_TRUE(revived.has_value());
  EXPECT_EQ(revived->state, DeliveryState::retrying);
  EXPECT_EQ(revived->priority, Priority::low);
  EXPECT_EQ(revived->due, script_.now);
  EXPECT_EQ(revived->budget_used, 0u);
  EXPECT_EQ(revived->attempt_count, 1u);
}

TEST_P(LedgerContract, AnAttemptThatEndedBeforeARevivalDoesNotUndoIt) {
  const Delivery delivery = accept(first_);
  const Settlement death = script_.death(delivery, gone);  // Not committed yet …
  script_.now += Millis{1'000};
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}).has_value());
  const BatchReceipt receipt = commit({.settlements = {death}});  // … and now it is.
  const DeliveryRecord stored = record(delivery.id);
  EXPECT_EQ(receipt.revived_meanwhile, std::vector{stored.delivery});
  EXPECT_TRUE(receipt.dead_letter_changes.empty());
  EXPECT_TRUE(is_waiting(stored.delivery.state));
  EXPECT_EQ(stored.delivery.due, script_.now);
  EXPECT_EQ(stored.delivery.budget_used, 0u);
  EXPECT_EQ(stored.delivery.attempt_count, 1u);
  EXPECT_EQ(stored.dead, std::nullopt);
  EXPECT_EQ(attempts(delivery.id).size(), 1u);
}

TEST_P(LedgerContract, ASuccessThatBeganBeforeARevivalIsWhatTheReviverWanted) {
  const Delivery delivery = accept(first_);
  const Settlement success = script_.success(delivery);
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}).has_value());
  const BatchReceipt receipt = commit({.settlements = {success}});
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(record(delivery.id).delivery.revivals, 1u);
  EXPECT_TRUE(receipt.revived_meanwhile.empty());
}

TEST_P(LedgerContract, AnOrderForADeliveryThatHasMovedOnIsRefused) {
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  const Seen dead{.state = DeliveryState::dead_letter, .revivals = 0};
  const Revive order{.delivery_id = delivery.id, .now = script_.now, .only_if = dead};
  EXPECT_TRUE(revive(order).has_value());
  EXPECT_EQ(revive(order).error().code, Errc::conflict);  // It waits.
  settle(script_.death(record(delivery.id).delivery, gone));
  EXPECT_EQ(revive(order).error().code, Errc::conflict);  // Dead again, in another life.
  const BatchReceipt receipt = commit({.cancels = {{.delivery_id = delivery.id,
                                                    .now = script_.now,
                                                    .of = CancelOf::dead_letter,
                                                    .only_if = dead}}});
  EXPECT_EQ(receipt.cancels.front().error().code, Errc::conflict);
  EXPECT_EQ(record(delivery.id).delivery.revivals, 1u);
}

TEST_P(LedgerContract, ADiscardedDeadLetterIsCancelledAndKeepsItsReason) {
  const Delivery delivery = accept(first_);
  const Cancel discard{
      .delivery_id = delivery.id, .now = script_.now + Millis{50}, .of = CancelOf::dead_letter};
  EXPECT_EQ(commit({.cancels = {discard}}).cancels.front().error().code, Errc::conflict);
  settle(script_.death(delivery, gone));
  const BatchReceipt receipt = commit({.cancels = {discard}});
  ASSERT_TRUE(receipt.cancels.front().has_value());
  EXPECT_EQ(receipt.dead_letter_changes, (std::map<TenantId, std::int64_t>{{"acme", -1}}));
  const DeliveryRecord stored = record(delivery.id);
  EXPECT_EQ(stored.delivery.state, DeliveryState::cancelled);
  EXPECT_EQ(stored.completed_at, script_.now + Millis{50});
  EXPECT_EQ(stored.dead, gone);
  EXPECT_EQ(attempts(delivery.id).size(), 1u);
  EXPECT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}).has_value());
}

TEST_P(LedgerContract, ABatchSaysHowTheDeadLettersOfEachTenantChanged) {
  using Changes = std::map<TenantId, std::int64_t>;
  const Delivery a = accept(first_);
  const Delivery b = accept(first_);
  const Delivery c = accept(second_, {.tenant_id = ""});
  EXPECT_EQ(commit({.settlements = {script_.death(a, gone), script_.death(b, gone),
                                    script_.death(c, gone)}})
                .dead_letter_changes,
            (Changes{{"acme", 2}, {"", 1}}));
  EXPECT_EQ(commit({.settlements = {script_.death(a, gone)}}).dead_letter_changes, Changes{});
  EXPECT_EQ(commit({.revivals = {{.delivery_id = a.id, .now = script_.now}}}).dead_letter_changes,
            (Changes{{"acme", -1}}));
  const Delivery revived = record(a.id).delivery;
  EXPECT_EQ(commit({.settlements = {script_.death(revived, gone)},
                    .revivals = {{.delivery_id = b.id, .now = script_.now}}})
                .dead_letter_changes,
            Changes{});
}

TEST_P(LedgerContract, RevivingAnUnknownDeliveryIsNotFound) {
  const DeliveryId unknown = script_.publish({first_}).deliveries.front().id;
  EXPECT_EQ(revive({.delivery_id = unknown, .now = script_.now}).error().code, Errc::not_found);
}

TEST_P(LedgerContract, CancellingStopsAWaitingDeliveryAndNoOther) {
  const Delivery delivery = accept(first_);
  script_.now += Millis{7};
  const Result<Delivery> cancelled = cancel(delivery.id);
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->state, DeliveryState::cancelled);
  EXPECT_EQ(record(delivery.id).delivery, *cancelled);
  EXPECT_EQ(record(delivery.id).completed_at, script_.now);
  EXPECT_EQ(cancel(delivery.id).error().code, Errc::conflict);
  EXPECT_EQ(cancel(script_.publish({first_}).deliveries.front().id).error().code, Errc::not_found);
}

TEST_P(LedgerContract, RecoveringAHealthyStoreLosesNothing) {
  const Delivery delivery = accept(first_);
  ASSERT_TRUE(ledger().recover().has_value());
  EXPECT_EQ(record(delivery.id).delivery, delivery);
  EXPECT_LT(delivery.sequence, accept(first_).sequence);
}

}  // namespace postrider::test
