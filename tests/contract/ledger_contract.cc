// Settlements, revivals and cancels in a commit. See settlement_contract.cc for all combinations.
#include <string>
#include <variant>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

const DeadReason gone{Classification::permanent, "permanent_client_error_404"};

}  // namespace

// ---------------------------------------------------------------- settlements

TEST_P(LedgerContract, SettlementUpdatesTheDeliveryAndRecordsTheAttempt) {
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

TEST_P(LedgerContract, DeadLetterKeepsItsReason) {
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  EXPECT_EQ(record(delivery.id).dead, gone);
}

TEST_P(LedgerContract, RecordsAnAttemptWithoutAResponse) {
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

TEST_P(LedgerContract, RepeatedEarlierSettlementChangesNothing) {
  const Delivery delivery = accept(first_);
  const Settlement first = script_.retry(delivery, script_.now + Millis{5});
  const Settlement second = script_.retry(first.delivery, script_.now + Millis{9});
  commit({.settlements = {first, second}});
  const DeliveryRecord before = record(delivery.id);
  settle(first);
  EXPECT_EQ(record(delivery.id), before);
  EXPECT_EQ(attempts(delivery.id).size(), 2u);
}

TEST_P(LedgerContract, FinalDeliveryStaysFinalButItsLateAttemptIsRecorded) {
  const Delivery delivery = accept(first_);
  ASSERT_TRUE(cancel(delivery.id).has_value());
  settle(script_.retry(delivery, script_.now + Millis{30'000}));
  const DeliveryRecord cancelled = record(delivery.id);
  EXPECT_EQ(cancelled.delivery.state, DeliveryState::cancelled);
  EXPECT_EQ(cancelled.delivery.attempt_count, 1u);  // So that a revival continues with number 2.
  EXPECT_EQ(cancelled.last_http_status, 500);
  EXPECT_EQ(attempts(delivery.id).size(), 1u);
}

TEST_P(LedgerContract, CancelledDeliveryThatItsReceiverAcceptsSucceeds) {
  const Delivery delivery = accept(first_);
  ASSERT_TRUE(cancel(delivery.id).has_value());
  script_.now += Millis{10};
  const Settlement success = script_.success(delivery);
  for (int twice = 0; twice < 2; ++twice) {
    const BatchReceipt receipt = commit({.settlements = {success}});
    EXPECT_EQ(receipt.waiting_change, TenantCounts{});  // The cancel was counted before.
    const DeliveryRecord accepted = record(delivery.id);
    EXPECT_EQ(accepted.delivery.state, DeliveryState::succeeded);
    EXPECT_EQ(accepted.delivery.attempt_count, 1u);
    EXPECT_EQ(accepted.completed_at, settled_at(success));
    EXPECT_EQ(attempts(delivery.id).size(), 1u);
  }
}

TEST_P(LedgerContract, SettlementWithoutAnAttemptClosesTheDelivery) {
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

TEST_P(LedgerContract, BatchPublishesThenSettlesThenRevivesThenCancels) {
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

TEST_P(LedgerContract, RevivedDeliveryIsDueAtOnceWithANewBudgetAndItsHistory) {
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

TEST_P(LedgerContract, RevivedWaitingDeliveryKeepsItsStateAndPriority) {
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

TEST_P(LedgerContract, FailedAttemptFromBeforeARevivalDoesNotUndoIt) {
  const Delivery delivery = accept(first_);
  const Settlement death = script_.death(delivery, gone);  // Not committed yet.
  script_.now += Millis{1'000};
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}).has_value());
  const BatchReceipt receipt = commit({.settlements = {death}});
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

TEST_P(LedgerContract, SuccessFromBeforeARevivalCounts) {
  const Delivery delivery = accept(first_);
  const Settlement success = script_.success(delivery);
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}).has_value());
  const BatchReceipt receipt = commit({.settlements = {success}});
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(record(delivery.id).delivery.revivals, 1u);
  EXPECT_TRUE(receipt.revived_meanwhile.empty());
}

TEST_P(LedgerContract, OrderForADeliveryThatHasChangedIsAConflict) {
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  const DeliveryVersion dead{.state = DeliveryState::dead_letter, .revivals = 0};
  const Revive order{.delivery_id = delivery.id, .now = script_.now, .only_if = dead};
  EXPECT_TRUE(revive(order).has_value());
  EXPECT_EQ(revive(order).error().code, Errc::conflict);  // It is waiting.
  settle(script_.death(record(delivery.id).delivery, gone));
  EXPECT_EQ(revive(order).error().code, Errc::conflict);  // Dead again, after a revival.
  const BatchReceipt receipt = commit({.cancels = {{.delivery_id = delivery.id,
                                                    .now = script_.now,
                                                    .of = CancelOf::dead_letter,
                                                    .only_if = dead}}});
  EXPECT_EQ(receipt.cancels.front().error().code, Errc::conflict);
  EXPECT_EQ(record(delivery.id).delivery.revivals, 1u);
}

TEST_P(LedgerContract, DiscardedDeadLetterIsCancelledAndKeepsItsReason) {
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

TEST_P(LedgerContract, ReceiptHasTheDeadLetterChangesOfEachTenant) {
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

TEST_P(LedgerContract, CancelStopsAWaitingDeliveryOnly) {
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
