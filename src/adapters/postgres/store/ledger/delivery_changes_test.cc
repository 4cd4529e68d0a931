#include "adapters/postgres/store/ledger/delivery_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/contract/store_script.h"

namespace postrider::postgres {
namespace {

using postrider::test::StoreScript;
using testing::ElementsAre;
using testing::IsEmpty;

class DeliveryChangesTest : public testing::Test {
 protected:
  /// A delivery as it is stored.
  Delivery add(DeliveryState state, std::uint32_t attempts = 0) {
    Delivery delivery = script_.publish({StoreScript::webhook(1)}).deliveries.front();
    delivery.sequence = ++sequence_;
    delivery.state = state;
    delivery.attempt_count = attempts;
    NamedDelivery named{.delivery = delivery,
                        .tenant_id = "acme",
                        .updated_at = script_.now,
                        .completed_at = {},
                        .dead = {},
                        .last_failure = {},
                        .last_http_status = {},
                        .operation = {}};
    named.is_in_waiting = is_waiting(state);
    if (!is_waiting(state)) {
      named.completed_at = script_.now;
    }
    changes_.add(named);
    return delivery;
  }

  [[nodiscard]] const DeliveryTally& tally() {
    return stats_.of_webhook(StoreScript::webhook(1), "acme", script_.now).tally;
  }

  StoreScript script_;
  BatchReceipt receipt_;
  StatsChanges stats_;
  DeliveryChanges changes_{receipt_, stats_};
  std::int64_t sequence_ = 0;
};

TEST_F(DeliveryChangesTest, OnlyAnAttemptThatIsNotNewMayBeStored) {
  const Delivery fresh = add(DeliveryState::pending);
  const Delivery tried = add(DeliveryState::retrying, 2);
  Settlement again = script_.retry(tried, script_.now);
  again.attempt->number = 2;
  const Settlement third = script_.retry(tried, script_.now);
  const Settlement first = script_.success(fresh);
  Settlement unknown = script_.success(fresh);
  unknown.delivery.id = script_.publish({StoreScript::webhook(1)}).deliveries.front().id;
  EXPECT_THAT(changes_.attempts_to_find({first, again, third, unknown}),
              ElementsAre(DeliveryChanges::AttemptKey{tried.id, 2}));
}

TEST_F(DeliveryChangesTest, AStoredAttemptIsNeitherRecordedNorCountedAgain) {
  const Delivery delivery = add(DeliveryState::succeeded, 1);
  Settlement success = script_.success(delivery);
  success.attempt->number = 1;
  changes_.add_stored_attempt({delivery.id, 1});
  changes_.settle(success);
  EXPECT_THAT(changes_.attempts(), IsEmpty());
  EXPECT_FALSE(changes_.deliveries().front().changed);
  EXPECT_TRUE(stats_.webhooks().empty());
}

TEST_F(DeliveryChangesTest, OneBatchMaySettleADeliveryMoreThanOnce) {
  const Delivery delivery = add(DeliveryState::pending);
  const Settlement retry = script_.retry(delivery, script_.now);
  const Settlement success = script_.success(retry.delivery);
  for (const Settlement& each : {retry, retry, success, success}) {
    changes_.settle(each);
  }
  EXPECT_EQ(changes_.attempts().size(), 2u);
  EXPECT_EQ(changes_.deliveries().front().delivery, success.delivery);
  EXPECT_EQ(tally().attempts, 2u);
  EXPECT_EQ(tally().now_succeeded, 1u);
  EXPECT_EQ(receipt_.waiting_change.total(), -1);
}

TEST_F(DeliveryChangesTest, ARevivalTakesBackACountThatAnotherNodeHasMade) {
  const Delivery dead = add(DeliveryState::dead_letter, 1);
  ASSERT_TRUE(changes_.revive({.delivery_id = dead.id, .now = script_.now}).has_value());
  DeliveryTally of_other_node;
  of_other_node.now_dead_letter = 1;
  of_other_node.add(tally());
  EXPECT_EQ(of_other_node.now_dead_letter, 0u);
  EXPECT_THAT(changes_.unsettled(), ElementsAre(dead.event_id));
  EXPECT_TRUE(is_waiting(changes_.deliveries().front().delivery.state));
  EXPECT_FALSE(changes_.deliveries().front().is_in_waiting);
}

TEST_F(DeliveryChangesTest, ADiscardedDeadLetterLeavesItsOperation) {
  const Delivery dead = add(DeliveryState::dead_letter, 1);
  ASSERT_TRUE(
      changes_.cancel({.delivery_id = dead.id, .now = script_.now, .of = CancelOf::dead_letter})
          .has_value());
  EXPECT_EQ(changes_.deliveries().front().operation, std::nullopt);
  EXPECT_TRUE(receipt_.outcomes.empty());
  EXPECT_THAT(receipt_.dead_letter_changes, ElementsAre(std::pair{TenantId{"acme"}, -1}));
}

TEST_F(DeliveryChangesTest, AnUnknownDeliveryIsNotFound) {
  const DeliveryId unknown = script_.publish({StoreScript::webhook(1)}).deliveries.front().id;
  EXPECT_EQ(changes_.revive({.delivery_id = unknown, .now = script_.now}).error().code,
            Errc::not_found);
  EXPECT_EQ(changes_.cancel({unknown, script_.now}).error().code, Errc::not_found);
}

}  // namespace
}  // namespace postrider::postgres
