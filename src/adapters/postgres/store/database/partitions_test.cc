#include "adapters/postgres/store/database/partitions.h"

#include <optional>

#include <gtest/gtest.h>

#include "adapters/postgres/store/database/migrations.h"

#include "tests/support/postgres_schema.h"

namespace postrider::postgres {
namespace {

TEST(Month, EndsWhereTheNextBegins) {
  const Month december{.year = 2025, .month = 12};
  EXPECT_EQ(to_rfc3339(december.begin()), "2025-12-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(december.end()), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(december.name(), "2025_12");
  EXPECT_EQ(Month::of(december.begin()), december);
  EXPECT_EQ(Month::of(december.end() - Millis{1}), december);
  EXPECT_EQ(Month::of(december.end()), december.next());
}

TEST(Month, IdsOfAMonthAreBetweenItsBounds) {
  const Month month{.year = 2026, .month = 2};
  UuidGenerator ids{1};
  EXPECT_LT(ids.next(month.begin() - Millis{1}), month.first_id());
  EXPECT_GE(ids.next(month.begin()), month.first_id());
  EXPECT_LT(ids.next(month.end() - Millis{1}), month.end_id());
  EXPECT_GE(ids.next(month.end()), month.end_id());
}

class PartitionsTest : public testing::Test {
 protected:
  PartitionsTest() : session_(open()) {
    const Result<Uuid> migrated = migrate(session_);
    EXPECT_TRUE(migrated.has_value()) << migrated.error().message;
  }

  Session open() {
    Result<Session> opened = Session::open({.address = schema_.address()}, interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return *std::move(opened);
  }

  void ensure(WallTime now) {
    const Result<void> done = ensure_partitions(session_, now);
    EXPECT_TRUE(done.has_value()) << done.error().message;
  }

  /// The table that holds the event.
  std::string place_of(const EventId& id) {
    const Result<Rows> rows = session_.run(
        "SELECT tableoid::regclass::text FROM event WHERE id = $1", Parameters::of(id));
    EXPECT_TRUE(rows.has_value() && rows->count() == 1);
    return rows->text(0, 0);
  }

  EventId add_event(WallTime at) {
    const auto id = ids_.make<EventId>(at);
    const Result<Rows> rows = session_.run(
        "INSERT INTO event (id, sequence, tenant_id, type, priority, \"timestamp\", created_at,"
        " delivery_count, idempotency_key, metadata, data)"
        " VALUES ($1, 1, 'acme', 'a', 1, 0, 0, 0, '', '', '{}')",
        Parameters::of(id));
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return id;
  }

  postrider::test::PostgresSchema schema_;
  Interruption interruption_;
  Session session_;
  UuidGenerator ids_{1};
};

const WallTime new_year = *parse_rfc3339("2026-12-31T23:59:59.999Z");

TEST_F(PartitionsTest, EventsOfThisAndTheNextMonthsHaveAPartition) {
  ensure(new_year);
  ensure(new_year);
  EXPECT_EQ(place_of(add_event(new_year)), "event_2026_12");
  EXPECT_EQ(place_of(add_event(new_year + Millis{1})), "event_2027_01");
  EXPECT_EQ(place_of(add_event(*parse_rfc3339("2027-02-28T23:59:59Z"))), "event_2027_02");
  EXPECT_EQ(place_of(add_event(*parse_rfc3339("2027-03-01T00:00:00Z"))), "event_default");
}

TEST_F(PartitionsTest, AMonthThatTheDefaultPartitionHoldsIsLeftOut) {
  const EventId early = add_event(new_year);
  ensure(new_year);
  EXPECT_EQ(place_of(early), "event_default");
  EXPECT_EQ(place_of(add_event(new_year)), "event_default");
  EXPECT_EQ(place_of(add_event(new_year + Millis{1})), "event_2027_01");
}

TEST_F(PartitionsTest, ALockOfAnotherSessionIsNotWaitedFor) {
  Session backup = open();
  backup.queue_begin(Isolation::read);
  ASSERT_TRUE(backup.run("SELECT count(*) FROM event").has_value());
  ensure(new_year);
  EXPECT_EQ(place_of(add_event(new_year)), "event_default");
  ASSERT_TRUE(backup.run("ROLLBACK").has_value());
  ensure(*parse_rfc3339("2027-01-01T00:00:00Z"));
  EXPECT_EQ(place_of(add_event(new_year + Millis{1})), "event_2027_01");
}

}  // namespace
}  // namespace postrider::postgres
