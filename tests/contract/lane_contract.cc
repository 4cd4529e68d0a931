// The engine's reads: pages of one lane, and the backlog of all lanes.
#include <string>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

LoadLane lane(WebhookId id, Ordering ordering, std::uint32_t limit,
              WallTime due_before = store_epoch + Millis{1'000}) {
  return {.webhook_id = id, .ordering = ordering, .due_before = due_before, .limit = limit};
}

std::vector<DeliveryId> ids(const std::vector<Delivery>& deliveries) {
  std::vector<DeliveryId> found;
  for (const Delivery& delivery : deliveries) {
    found.push_back(delivery.id);
  }
  return found;
}

}  // namespace

TEST_P(LaneContract, UnknownWebhookHasAnEmptyLane) {
  for (const Ordering ordering : {Ordering::none, Ordering::per_event_type, Ordering::strict}) {
    const LanePage page = load(lane(first_, ordering, 10));
    EXPECT_TRUE(page.deliveries.empty());
    EXPECT_EQ(page.rest_due, std::nullopt);
  }
}

TEST_P(LaneContract, WithoutOrderSortsByPriorityThenDueTime) {
  const Delivery late = accept(first_, {.due_in = Millis{900}});
  const Delivery early = accept(first_, {.due_in = Millis{100}});
  const Delivery same = accept(first_, {.due_in = Millis{100}});
  const Delivery low = accept(first_, {.priority = Priority::low});
  const Delivery high = accept(first_, {.priority = Priority::high, .due_in = Millis{999}});
  accept(second_);

  const LanePage page = load(lane(first_, Ordering::none, 10));
  EXPECT_EQ(page.deliveries, (std::vector<Delivery>{high, early, same, late, low}));
  EXPECT_EQ(page.rest_due, std::nullopt);
}

TEST_P(LaneContract, WithoutOrderLimitsEachPriorityAndReportsWhenTheRestIsDue) {
  const Delivery normal = accept(first_, {.due_in = Millis{10}});
  accept(first_, {.due_in = Millis{30}});
  const Delivery low = accept(first_, {.priority = Priority::low, .due_in = Millis{5}});
  accept(first_, {.priority = Priority::low, .due_in = Millis{20}});

  const LanePage page = load(lane(first_, Ordering::none, 1));
  EXPECT_EQ(page.deliveries, (std::vector<Delivery>{normal, low}));
  EXPECT_EQ(page.rest_due, store_epoch + Millis{20});
}

TEST_P(LaneContract, WithoutOrderLoadsOnlyWhatIsDueBefore) {
  const Delivery soon = accept(first_, {.due_in = Millis{999}});
  accept(first_, {.due_in = Millis{1'000}});
  accept(first_, {.priority = Priority::high, .due_in = Millis{5'000}});

  const LanePage page = load(lane(first_, Ordering::none, 10));
  EXPECT_EQ(page.deliveries, (std::vector<Delivery>{soon}));
  EXPECT_EQ(page.rest_due, store_epoch + Millis{1'000});
}

TEST_P(LaneContract, LoadsOnlyWaitingDeliveries) {
  const Delivery done = accept(first_);
  const Delivery dead = accept(first_);
  const Delivery cancelled = accept(first_);
  const Delivery retrying = accept(first_);
  settle(script_.success(done));
  settle(script_.death(dead, {Classification::recoverable, "max_attempts_exceeded"}));
  ASSERT_TRUE(cancel(cancelled.id).has_value());
  settle(script_.retry(retrying, script_.now + Millis{10}));

  for (const Ordering ordering : {Ordering::none, Ordering::per_event_type, Ordering::strict}) {
    const LanePage page = load(lane(first_, ordering, 10));
    EXPECT_EQ(ids(page.deliveries), (std::vector<DeliveryId>{retrying.id}));
    EXPECT_EQ(page.rest_due, std::nullopt);
  }
  ASSERT_TRUE(revive({.delivery_id = dead.id, .now = script_.now}).has_value());
  EXPECT_EQ(ids(load(lane(first_, Ordering::strict, 10)).deliveries),
            (std::vector<DeliveryId>{dead.id, retrying.id}));
}

TEST_P(LaneContract, StrictOrderIsPublishOrderRegardlessOfDueTimes) {  // P4
  const Delivery a = accept(first_, {.type = "z", .due_in = Millis{90'000}});
  const Delivery b = accept(first_, {.type = "a", .priority = Priority::high});
  const Delivery c = accept(first_, {.type = "z"});
  const Delivery d = accept(first_, {.type = "m", .due_in = Millis{70}});
  const Delivery e = accept(first_, {.type = "a"});

  EXPECT_EQ(load(lane(first_, Ordering::strict, 10)).deliveries,
            (std::vector<Delivery>{a, b, c, d, e}));
  EXPECT_EQ(load(lane(first_, Ordering::strict, 5)).rest_due, std::nullopt);
  const LanePage page = load(lane(first_, Ordering::strict, 3));
  EXPECT_EQ(page.deliveries, (std::vector<Delivery>{a, b, c}));
  EXPECT_EQ(page.rest_due, d.due);
}

TEST_P(LaneContract, OrderPerTypeLoadsTheFirstOfEachType) {  // P4
  const Delivery a1 = accept(first_, {.type = "a", .due_in = Millis{90'000}});
  const Delivery b1 = accept(first_, {.type = "b"});
  const Delivery a2 = accept(first_, {.type = "a"});
  const Delivery a3 = accept(first_, {.type = "a", .due_in = Millis{40}});
  const Delivery b2 = accept(first_, {.type = "b", .due_in = Millis{50}});

  EXPECT_EQ(load(lane(first_, Ordering::per_event_type, 3)).deliveries,
            (std::vector<Delivery>{a1, b1, a2, a3, b2}));
  EXPECT_EQ(load(lane(first_, Ordering::per_event_type, 3)).rest_due, std::nullopt);

  const LanePage two = load(lane(first_, Ordering::per_event_type, 2));
  EXPECT_EQ(two.deliveries, (std::vector<Delivery>{a1, b1, a2, b2}));
  EXPECT_EQ(two.rest_due, a3.due);

  const LanePage one = load(lane(first_, Ordering::per_event_type, 1));
  EXPECT_EQ(one.deliveries, (std::vector<Delivery>{a1, b1}));
  EXPECT_EQ(one.rest_due, a2.due);
}

TEST_P(LaneContract, LaneOfManyTypesLoadsThoseWhoseHeadsAreDueFirst) {
  Batch batch;
  const std::size_t count = lane_types_max + 3;
  for (std::size_t i = 0; i < count; ++i) {
    // The last types are due first.
    batch.publishes.push_back(script_.publish(
        {first_},
        {.type = "t" + std::to_string(i), .due_in = Millis{static_cast<std::int64_t>(count - i)}}));
  }
  commit(batch);
  const LanePage page = load(lane(first_, Ordering::per_event_type, 2));
  ASSERT_EQ(page.deliveries.size(), lane_types_max);
  EXPECT_EQ(page.deliveries.front().event_type, "t3");
  EXPECT_EQ(page.deliveries.back().event_type, "t" + std::to_string(count - 1));
  EXPECT_EQ(page.rest_due, script_.now + Millis{static_cast<std::int64_t>(count - 2)});
}

TEST_P(LaneContract, BacklogHasEachWebhookWithItsEarliestDueTime) {
  const WebhookId third = StoreScript::webhook(3);
  EXPECT_TRUE(ledger().backlog()->empty());
  accept(second_, {.due_in = Millis{50}});
  accept(second_, {.priority = Priority::low, .due_in = Millis{20}});
  accept(second_, {.priority = Priority::high, .due_in = Millis{30}});
  accept(first_, {.due_in = Millis{7}});
  settle(script_.success(accept(third)));
  settle(script_.success(accept(first_)));

  const auto check = [&] {
    const Result<std::vector<LaneBacklog>> backlog = ledger().backlog();
    ASSERT_TRUE(backlog.has_value());
    ASSERT_EQ(backlog->size(), 2u);
    EXPECT_EQ((*backlog)[0].webhook_id, first_);
    EXPECT_EQ((*backlog)[0].due, store_epoch + Millis{7});
    EXPECT_EQ((*backlog)[0].last_attempt, script_.now);
    EXPECT_EQ((*backlog)[1].webhook_id, second_);
    EXPECT_EQ((*backlog)[1].due, store_epoch + Millis{20});
    EXPECT_EQ((*backlog)[1].last_attempt, std::nullopt);
  };
  check();
  store_->reopen();
  check();
}

}  // namespace postrider::test
