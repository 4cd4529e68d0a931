#include "adapters/postgres/store/retention/removal.h"

#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/postgres/store/retention/test_rows.h"

namespace postrider::postgres {
namespace {

using std::chrono::hours;

const WallTime day_one = *parse_rfc3339("2026-01-15T12:00:00Z");
const RetentionCutoffs cutoffs{.now = day_one + hours{1'000},
                               .events = day_one,
                               .dead_letters = day_one,
                               .removed_webhooks = day_one};

EventId event_id(std::uint8_t number) {
  EventId id;
  id.bytes[15] = number;
  return id;
}

LockedDelivery delivery(std::uint8_t event, std::uint8_t number,
                        DeliveryState state = DeliveryState::succeeded) {
  LockedDelivery locked{.event_id = event_id(event), .tenant_id = "acme"};
  locked.id.bytes[15] = number;
  locked.standing = {state, day_one};
  return locked;
}

RowsToRemove chosen(const LockedEvent& event, const std::vector<LockedDelivery>& deliveries) {
  RowsToRemove rows;
  choose_events({event}, deliveries, cutoffs, rows);
  return rows;
}

TEST(ChooseEvents, TakesAnEventOfWhichAllDeliveriesCouldBeLocked) {
  const LockedEvent event{.id = event_id(1), .created_at = day_one, .deliveries_stored = 2};
  const RowsToRemove rows =
      chosen(event, {delivery(1, 1), delivery(1, 2, DeliveryState::dead_letter), delivery(2, 3)});
  EXPECT_EQ(rows.events, std::set{event_id(1)});
  EXPECT_EQ(rows.deliveries, (std::set{delivery(1, 1).id, delivery(1, 2).id}));
  EXPECT_EQ(rows.dead_letters, (std::map<TenantId, std::uint64_t>{{"acme", 1}}));
}

TEST(ChooseEvents, KeepsAnEventThatIsNeededOrYoungOrHasADeliveryThatIsNotLocked) {
  const LockedEvent event{.id = event_id(1), .created_at = day_one, .deliveries_stored = 1};
  LockedEvent other = event;
  EXPECT_TRUE(chosen(event, {}).events.empty()) << "a delivery was revived";
  other.is_needed = true;
  EXPECT_TRUE(chosen(other, {delivery(1, 1)}).events.empty());
  other = event;
  other.created_at += Millis{1};
  EXPECT_TRUE(chosen(other, {delivery(1, 1)}).events.empty());
  LockedDelivery young = delivery(1, 1, DeliveryState::dead_letter);
  *young.standing.completed_at += Millis{1};
  EXPECT_TRUE(chosen(event, {young}).events.empty());
  EXPECT_EQ(chosen(event, {delivery(1, 1)}).events.size(), 1u);
}

TEST(ChooseSingleDeliveries, TakesExpiredDeadLettersAndTheHistoryOfRemovedWebhooks) {
  LockedDelivery gone = delivery(1, 1);
  gone.webhook_removed_at = day_one;
  LockedDelivery young = delivery(1, 2);
  young.webhook_removed_at = day_one + Millis{1};
  RowsToRemove rows;
  choose_single_deliveries(
      {gone, young, delivery(1, 3), delivery(1, 4, DeliveryState::dead_letter), gone}, cutoffs,
      rows);
  EXPECT_EQ(rows.deliveries, (std::set{gone.id, delivery(1, 4).id}));
  EXPECT_EQ(rows.dead_letters.at("acme"), 1u);
}

class RemovalTest : public StoreRows {
 protected:
  Result<Removed> remove(EventId event) {
    return remove_expired(*writer_, {{.sequence = sequences_.at(event)}}, cutoffs);
  }

  /// Whether a session of the schema waits for a lock.
  bool someone_waits() {
    for (int i = 0; i < 2'000; ++i) {
      if (run("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)").boolean(0, 0)) {
        return true;
      }
      run("SELECT pg_sleep(0.005)");
    }
    return false;
  }
};

TEST_F(RemovalTest, RemovesAnEventWithEverythingThatDependsOnIt) {
  make_partitions(day_one);
  const EventId event = add_event(day_one);
  add_final(event, day_one);
  add_final(event, day_one + hours{24 * 40});
  run("INSERT INTO claim (tenant_id, key, event_id, body_digest, expires_at)"
      " VALUES ('acme', 'k', $1, '', 0)",
      Parameters::of(event));
  run("INSERT INTO source_row (source, row_id, event_id, event, generation, revision, settled)"
      " VALUES ('shop', '1', $1, 1, 0, 0, 1)",
      Parameters::of(event));
  const Result<Removed> removed = remove(event);
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_EQ(*removed, (Removed{.events = 1, .deliveries = 2, .attempts = 2, .dead_letters = {}}));
  for (const char* table : {"event", "delivery", "attempt", "claim", "source_row"}) {
    EXPECT_EQ(count(table), 0) << table;
  }
}

TEST_F(RemovalTest, RemovesShapesThatNoStoredDeliveryCanHave) {
  const EventId first = add_event(day_one);
  add_event(day_one + hours{1});
  run("INSERT INTO request_shape (webhook_id, number, named_below, sealed, shape)"
      " VALUES ($1, 1, 2, 0, ''), ($1, 2, 3, 0, ''), ($1, 3, NULL, 0, '')",
      Parameters::of(webhook_));
  ASSERT_TRUE(remove_expired(*writer_, {{.sequence = 99}}, cutoffs).has_value());
  EXPECT_EQ(count("request_shape"), 3);
  ASSERT_TRUE(remove(first).has_value());
  EXPECT_EQ(run("SELECT min(number) FROM request_shape").integer(0, 0), 2);
}

TEST_F(RemovalTest, AnEventIsKeptWhoseDeliveryAnotherNodeRevivesAtTheSameTime) {
  const EventId event = add_event(day_one);
  const DeliveryId revived = add_final(event, day_one);
  Session node = open();
  node.queue_begin(Isolation::write);
  ASSERT_TRUE(node.run("DELETE FROM delivery WHERE id = $1", Parameters::of(revived)).has_value());
  ASSERT_TRUE(node.run("INSERT INTO waiting (sequence, id, event_id, webhook_id, tenant_id, type,"
                       " priority, state, trigger, due, attempt_count, budget_used, created_at,"
                       " updated_at, ordered, shard)"
                       " VALUES (2, $1, $2, $1, 'acme', 'a', 1, 0, 0, 0, 0, 0, 0, 0, false, 0)",
                       Parameters::of(revived, event))
                  .has_value());
  std::future<Result<Removed>> removed =
      std::async(std::launch::async, [&] { return remove(event); });
  EXPECT_TRUE(someone_waits());
  ASSERT_TRUE(node.run("COMMIT").has_value());
  const Result<Removed> result = removed.get();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(*result, Removed{});
  EXPECT_EQ(count("event"), 1);
  EXPECT_EQ(count("attempt"), 1);
}

}  // namespace
}  // namespace postrider::postgres
