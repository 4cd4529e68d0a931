#include "runtime/sources/row_changes.h"

#include <gtest/gtest.h>

#include "tests/contract/store_script.h"

namespace postrider {
namespace {

using Events = std::vector<EventId>;

class RowChangesTest : public testing::Test {
 protected:
  static constexpr RowChangeOptions limits{.tracked_max = 3, .changed_max = 4};

  RowChangesTest() { finish_examination(); }

  void finish_examination() {
    (void)take();
    changes_.examined("orders", true);
  }

  RowChanges::Taken take() { return changes_.take("orders", Millis{0}); }

  Publish publish(bool of_row, const std::vector<WebhookId>& to) {
    Publish publish = script_.publish(to);
    if (of_row) {
      publish.row = SourceRow{.source = "orders", .row_id = publish.event.id.to_string()};
    }
    return publish;
  }
  /// Returns its delivery.
  Delivery store(bool of_row) {
    const Publish stored = publish(of_row, {hook_});
    commit({.publishes = {stored}}, {.publishes = {Accepted{stored.deliveries}}});
    return stored.deliveries.front();
  }
  void settle(const Delivery& delivery) {
    commit({.settlements = {script_.success(delivery)}}, {});
  }
  void commit(const Batch& batch, const BatchReceipt& receipt) {
    changes_.committed(batch, receipt);
  }

  test::StoreScript script_;
  const WebhookId hook_ = test::StoreScript::webhook(1);
  RowChanges changes_{{"orders"}, limits};
};

TEST_F(RowChangesTest, AllRowsAreExaminedAtFirst) {
  RowChanges changes{{"orders", "bills"}};
  EXPECT_TRUE(changes.take("orders", Millis{0}).examine_all);
  EXPECT_FALSE(changes.take("orders", Millis{0}).examine_all);
  EXPECT_TRUE(changes.take("bills", Millis{0}).examine_all);
}

TEST_F(RowChangesTest, OnlySettlementsOfRowsAreChanges) {
  const Delivery of_row = store(true);
  const Delivery other = store(false);
  EXPECT_TRUE(take().events.empty());
  settle(of_row);
  settle(other);
  settle(of_row);
  EXPECT_EQ(take().events, (Events{of_row.event_id}));
  changes_.forget({of_row.event_id});
  settle(of_row);
  EXPECT_TRUE(take().events.empty());
}

TEST_F(RowChangesTest, ARowWithoutDeliveriesAndARepeatedRowAreChanges) {
  const Publish none = publish(true, {});
  const Publish again = publish(true, {hook_});
  const Publish first = publish(true, {hook_});
  commit({.publishes = {none, again}},
         {.publishes = {Accepted{}, Duplicate{.first_id = first.event.id, .same_body = true}}});
  Events expected{none.event.id, first.event.id};
  std::ranges::sort(expected);
  EXPECT_EQ(take().events, expected);
}

TEST_F(RowChangesTest, RevivalsCancelsAndLateDeliveriesAreChangesOfAnyEvent) {
  const Delivery revived = store(false);
  const Delivery cancelled = store(false);
  const Delivery late = store(false);
  commit({}, {.revivals = {revived, fail(Errc::not_found, "")},
              .late_deliveries = {late, std::nullopt},
              .cancels = {cancelled}});
  EXPECT_EQ(take().events.size(), 3u);
  settle(revived);
  EXPECT_EQ(take().events, (Events{revived.event_id}));
}

TEST_F(RowChangesTest, EverySettlementIsAChangeWhileRowsAreExamined) {
  const Delivery other = store(false);
  changes_.examine_all();
  settle(other);
  EXPECT_TRUE(take().examine_all);
  settle(other);
  EXPECT_EQ(take().events, (Events{other.event_id}));
  changes_.examined("orders", true);
  settle(other);
  EXPECT_TRUE(take().events.empty());
}

TEST_F(RowChangesTest, AnExaminationThatFailedIsRepeated) {
  changes_.examine_all();
  EXPECT_TRUE(take().examine_all);
  changes_.examined("orders", false);
  EXPECT_TRUE(take().examine_all);
}

TEST_F(RowChangesTest, EverySettlementIsAChangeIfNotAllRowsCanBeTracked) {
  for (std::size_t row = 0; row <= limits.tracked_max; ++row) {
    (void)store(true);
  }
  const Delivery other = store(false);
  settle(other);
  EXPECT_EQ(take().events, (Events{other.event_id}));
}

TEST_F(RowChangesTest, EverySettlementIsAChangeIfServersShareTheStore) {
  RowChanges changes{{"orders"}, RowChangeOptions{.is_shared = true}};
  (void)changes.take("orders", Millis{0});
  changes.examined("orders", true);
  const Delivery of_another_server = store(true);
  changes.committed({.settlements = {script_.success(of_another_server)}}, {});
  EXPECT_EQ(changes.take("orders", Millis{0}).events, (Events{of_another_server.event_id}));
}

TEST_F(RowChangesTest, AllRowsAreExaminedIfThereAreTooManyChanges) {
  const Delivery row = store(true);
  for (std::size_t change = 0; change <= limits.changed_max; ++change) {
    settle(row);
  }
  const RowChanges::Taken taken = take();
  EXPECT_TRUE(taken.examine_all);
  EXPECT_TRUE(taken.events.empty());
}

TEST_F(RowChangesTest, ChangesCanBeReturned) {
  const Delivery row = store(true);
  settle(row);
  changes_.put_back("orders", take().events);
  EXPECT_EQ(take().events, (Events{row.event_id}));
}

TEST_F(RowChangesTest, StopEndsTheWaiting) {
  changes_.stop();
  EXPECT_TRUE(changes_.take("orders", Millis{3'600'000}).events.empty());
}

}  // namespace
}  // namespace postrider
