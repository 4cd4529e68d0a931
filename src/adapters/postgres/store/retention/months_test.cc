#include "adapters/postgres/store/retention/months.h"

#include <chrono>
#include <functional>

#include <gtest/gtest.h>

#include "adapters/postgres/store/retention/retention_writer.h"
#include "adapters/postgres/store/retention/test_rows.h"

namespace postrider::postgres {
namespace {

using std::chrono::hours;

const WallTime january = *parse_rfc3339("2026-01-15T12:00:00Z");
const WallTime february = *parse_rfc3339("2026-02-15T12:00:00Z");
const WallTime end_of_january = *parse_rfc3339("2026-02-01T00:00:00Z");

RetentionCutoffs cutoffs(WallTime events) {
  return {.now = events + hours{2'000},
          .events = events,
          .dead_letters = january + hours{24},
          .removed_webhooks = {}};
}

TEST(ParseMonth, ReadsTheEndOfThePartitionsName) {
  EXPECT_EQ(parse_month("2026_01"), (Month{.year = 2026, .month = 1}));
  EXPECT_EQ(parse_month("2026_12"), (Month{.year = 2026, .month = 12}));
  for (const char* other :
       {"default", "2026-01", "2026_1", "2026_1x", "-026_01", "2026_00", "2026_13", ""}) {
    EXPECT_EQ(parse_month(other), std::nullopt) << other;
  }
}

class MonthsTest : public StoreRows {
 protected:
  MonthsTest() { make_partitions(january); }

  std::optional<Removed> remove(WallTime events) {
    const Result<std::optional<Removed>> removed =
        remove_expired_month(*writer_, cutoffs(events), limits_);
    EXPECT_TRUE(removed.has_value()) << removed.error().message;
    return removed.value_or(std::nullopt);
  }

  bool drop() {
    const Result<bool> dropped = drop_unused_partition(*writer_, limits_);
    EXPECT_TRUE(dropped.has_value()) << dropped.error().message;
    return dropped.value_or(false);
  }

  // A busy machine is no failure.
  DropLimits limits_{
      .lock_max = Millis{5'000}, .search_max = Millis{5'000}, .vacuum_max = Millis{5'000}};
};

TEST_F(MonthsTest, AnExpiredMonthIsRemovedAsAWhole) {
  for (int i = 0; i < 3; ++i) {
    const EventId event = add_event(january);
    add_final(event, january);
    add_final(event, january, {.state = DeliveryState::dead_letter});
  }
  const EventId young = add_event(february);
  add_final(young, february);
  run("ANALYZE event, delivery, attempt, waiting");
  EXPECT_EQ(remove(end_of_january - Millis{1}), std::nullopt);
  EXPECT_EQ(remove(end_of_january),
            (Removed{.events = 3, .deliveries = 6, .attempts = 6, .dead_letters = {{"acme", 3}}}));
  EXPECT_FALSE(exists("event_2026_01"));
  EXPECT_FALSE(exists("delivery_2026_01"));
  EXPECT_FALSE(exists("attempt_2026_01"));
  EXPECT_EQ(count("event"), 1);
  EXPECT_EQ(count("attempt"), 1);
  EXPECT_EQ(remove(end_of_january), std::nullopt);
  EXPECT_EQ(remove(february), std::nullopt) << "the month is not over";
}

TEST_F(MonthsTest, NothingIsRemovedWithoutAnAge) {
  const Result<std::optional<Removed>> removed =
      remove_expired_month(*writer_, {.now = february, .events = {}});
  ASSERT_TRUE(removed.has_value());
  EXPECT_EQ(*removed, std::nullopt);
}

TEST_F(MonthsTest, AMonthWithSomethingThatIsStillNeededStays) {
  const EventId event = add_event(january);
  const EventId other = add_event(february);
  const EventId before = add_event(january - hours{24 * 30});
  const WallTime now = cutoffs(end_of_january).now;
  struct Case {
    const char* name;
    std::function<void()> add;
    const char* table;
  };
  const Case cases[] = {
      {"waiting delivery of an event", [&] { add_waiting(event, february); }, "waiting"},
      {"waiting delivery with attempts", [&] { add_waiting(other, january); }, "waiting"},
      {"note",
       [&] {
         run("INSERT INTO fanout (event, event_id, tenant_id, list, place, remaining, due, chosen)"
             " VALUES (1, $1, 'acme', 1, 0, 1, 0, '')",
             Parameters::of(event));
       },
       "fanout"},
      {"live key",
       [&] {
         run("INSERT INTO claim (tenant_id, key, event_id, body_digest, expires_at)"
             " VALUES ('acme', 'k', $1, '', $2)",
             Parameters::of(event, now + Millis{1}));
       },
       "claim"},
      {"tracked row of a source",
       [&] {
         run("INSERT INTO source_row (source, row_id, event_id, event, generation, revision,"
             " settled) VALUES ('shop', '1', $1, 1, 0, 0, 1)",
             Parameters::of(event));
       },
       "source_row"},
      {"later delivery of an event", [&] { add_final(event, february); }, "delivery"},
      {"earlier delivery of an event", [&] { add_final(event, january - hours{24 * 30}); },
       "delivery"},
      {"delivery of an earlier event", [&] { add_final(before, january); }, "delivery"},
      {"delivery of a later event", [&] { add_final(other, january); }, "delivery"},
      {"young dead letter",
       [&] {
         add_final(event, january, {.state = DeliveryState::dead_letter, .completed_at = february});
       },
       "delivery"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    each.add();
    EXPECT_EQ(remove(end_of_january), std::nullopt);
    run(std::string{"DELETE FROM "} + each.table);
  }
  run("INSERT INTO claim (tenant_id, key, event_id, body_digest, expires_at)"
      " VALUES ('acme', 'k', $1, '', $2)",
      Parameters::of(event, now));
  EXPECT_TRUE(remove(end_of_january).has_value());
}

TEST_F(MonthsTest, AMonthThatSomeoneReadsIsLeftForLater) {
  Session backup = open();
  backup.queue_begin(Isolation::read);
  ASSERT_TRUE(backup.run("SELECT count(*) FROM event").has_value());
  ASSERT_TRUE(backup.run("SELECT count(*) FROM attempt").has_value());
  ASSERT_TRUE(backup.run("SELECT count(*) FROM delivery").has_value());
  limits_.lock_max = Millis{1};
  EXPECT_EQ(remove(end_of_january), std::nullopt);
  EXPECT_FALSE(drop());
  limits_.lock_max = Millis{5'000};
  ASSERT_TRUE(backup.run("ROLLBACK").has_value());
  EXPECT_TRUE(remove(end_of_january).has_value());
}

TEST_F(MonthsTest, AMonthThatIsBeingVacuumedIsLeftForLater) {
  add_event(january);
  // The lock of a vacuum. An autovacuum would give way.
  Session vacuum = open();
  vacuum.queue_begin(Isolation::write);
  ASSERT_TRUE(vacuum.run("LOCK TABLE event_2026_01 IN SHARE UPDATE EXCLUSIVE MODE").has_value());
  limits_.vacuum_max = Millis{1};
  EXPECT_EQ(remove(end_of_january), std::nullopt);
  limits_.vacuum_max = Millis{5'000};
  ASSERT_TRUE(vacuum.run("ROLLBACK").has_value());
  EXPECT_TRUE(remove(end_of_january).has_value());
}

TEST_F(MonthsTest, AnEmptyPartitionOfAPastMonthIsDropped) {
  const EventId event = add_event(january);
  add_final(event, february);
  EXPECT_TRUE(drop()) << "deliveries and attempts of January";
  EXPECT_TRUE(drop());
  EXPECT_TRUE(exists("event_2026_01"));
  EXPECT_FALSE(exists("delivery_2026_01"));
  EXPECT_FALSE(exists("attempt_2026_01"));
  run("DELETE FROM event");
  while (drop()) {
  }
  EXPECT_FALSE(exists("event_2026_01"));
  EXPECT_TRUE(exists("delivery_2026_02"));
  add_final(add_event(january), january);
  EXPECT_EQ(count("delivery_default"), 1) << "rows of a dropped month are still accepted";
}

TEST_F(MonthsTest, AMostlyEmptyPartitionGivesItsRowsAway) {
  const EventId event = add_event(january);
  add_event(january);
  add_final(event, january);
  limits_.large_bytes = 1;
  limits_.rows_moved_max = 1;
  while (drop()) {
  }
  EXPECT_EQ(count("event_2026_01"), 2);
  EXPECT_FALSE(exists("delivery_2026_01"));
  EXPECT_FALSE(exists("attempt_2026_01"));
  EXPECT_EQ(count("delivery_default"), 1);
  EXPECT_EQ(count("attempt_default"), 1);
}

TEST_F(MonthsTest, ReleasingSpaceAlsoMakesThePartitionsOfTheComingMonths) {
  const std::unique_ptr<RetentionWriter> retention =
      make_retention_writer(std::shared_ptr<Writer>{std::move(writer_)});
  for (int i = 0; i < 100 && exists("event_2026_01"); ++i) {
    const Result<bool> released = retention->release_space();
    ASSERT_TRUE(released.has_value()) << released.error().message;
  }
  EXPECT_FALSE(exists("event_2026_01"));
  const std::int64_t now = run("SELECT (extract(epoch FROM now()) * 1000)::bigint").integer(0, 0);
  const Month month = Month::of(wall_from_unix_ms(now));
  EXPECT_TRUE(exists("attempt_" + month.name()));
  EXPECT_TRUE(exists("attempt_" + month.next().name()));
}

}  // namespace
}  // namespace postrider::postgres
