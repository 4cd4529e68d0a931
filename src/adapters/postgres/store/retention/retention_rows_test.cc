// Checks that retention reads few rows of large tables, as history_plan_test.cc does for lists.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/postgres/store/history/history_data.h"
#include "adapters/postgres/store/retention/months.h"
#include "adapters/postgres/store/retention/removal.h"
#include "adapters/postgres/store/retention/retention_reader.h"

namespace postrider::postgres {
namespace {

using Data = HistoryData;

constexpr std::string_view rows_read_sql =
    "SELECT CAST(coalesce(sum(seq_tup_read + idx_tup_fetch), 0) AS bigint)"
    " FROM pg_stat_xact_user_tables";

WallTime time_of(int number) { return wall_from_unix_ms(Data::time_of(number)); }

/// Everything is old enough.
RetentionCutoffs all_expired() {
  const WallTime now = time_of(Data::delivery_count);
  return {.now = now, .events = now, .dead_letters = now, .removed_webhooks = now};
}

/// The tests share a store. Each reads or removes other numbers.
class RetentionRows : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data_ = std::make_unique<Data>();
    data_->fill();
    connection_ = data_->connect();
    reader_ = make_retention_reader(connection_);
  }
  static void TearDownTestSuite() {
    reader_.reset();
    connection_.reset();
    data_.reset();
  }

  /// The rows that the page and the call read.
  std::int64_t rows_read(Result<ExpiredPage> (RetentionReader::*find)(const ExpiredQuery&),
                         const ExpiredQuery& query) {
    const Result<std::int64_t> read =
        connection_->read([&](Session& session) -> Result<std::int64_t> {
          POSTRIDER_TRY(const Rows before, session.run(rows_read_sql));
          POSTRIDER_TRY(page_, (reader_.get()->*find)(query));
          POSTRIDER_TRY(const Rows after, session.run(rows_read_sql));
          return after.integer(0, 0) - before.integer(0, 0);
        });
    EXPECT_TRUE(read.has_value()) << read.error().message;
    return read.value_or(-1);
  }

  std::unique_ptr<Writer> open_writer() {
    Result<std::unique_ptr<Writer>> writer = Writer::open(data_->options());
    EXPECT_TRUE(writer.has_value()) << writer.error().message;
    return *std::move(writer);
  }

  static inline std::unique_ptr<Data> data_;
  static inline std::shared_ptr<ReadConnection> connection_;
  static inline std::unique_ptr<RetentionReader> reader_;
  ExpiredPage page_;
};

TEST_F(RetentionRows, APageReadsTheRowsThatItExaminesAndNoOthers) {
  const ExpiredQuery events{.cutoffs = all_expired(),
                            .after = Data::final_count - 100,
                            .limit = 200,
                            .with_content = false};
  // Events, and the deliveries that wait. Dead letters are few.
  EXPECT_LE(rows_read(&RetentionReader::expired_events, events), 3 * 200 + 20);
  EXPECT_EQ(page_.items.size(), 100u) << "the deliveries of the others wait";
  EXPECT_EQ(page_.next, Data::final_count + 100);

  const ExpiredQuery dead{
      .cutoffs = all_expired(), .after = 13'000, .limit = 50, .with_content = false};
  EXPECT_LE(rows_read(&RetentionReader::expired_dead_letters, dead), 2 * 50 + 20);
  EXPECT_EQ(page_.items.size(), 50u);
  EXPECT_EQ(page_.items.front().only_delivery, 13'000 + Data::dead_step);

  const ExpiredQuery of_webhook{.cutoffs = all_expired(),
                                .after = Data::final_count,
                                .limit = 50,
                                .with_content = false,
                                .webhook_id = Data::webhook(7)};
  EXPECT_LE(rows_read(&RetentionReader::deliveries_of_removed, of_webhook), 2 * 50 + 20);
  EXPECT_EQ(page_.items.size(), 50u);
}

TEST_F(RetentionRows, ContentsAreReadWithTheirPage) {
  const ExpiredQuery events{.cutoffs = all_expired(), .after = 10'000, .limit = 200};
  // Each event, its size, its delivery, and the attempt as the last one and as one of all.
  EXPECT_LE(rows_read(&RetentionReader::expired_events, events), 6 * 200 + 20);
  ASSERT_EQ(page_.items.size(), 200u);
  EXPECT_EQ(page_.items.front().event.id, Data::event(10'001));
  ASSERT_EQ(page_.items.front().deliveries.size(), 1u);
  EXPECT_EQ(page_.items.front().deliveries.front().attempts.size(), 1u);
}

TEST_F(RetentionRows, ARemovalReadsTheRowsThatItRemoves) {
  const std::unique_ptr<Writer> writer = open_writer();
  std::vector<ExpiredKey> keys;
  for (int number = 12'001; number <= 12'200; ++number) {
    keys.push_back({.sequence = number});
  }
  std::int64_t read = 0;
  const Result<Removed> removed = writer->transact([&]() -> Result<Removed> {
    POSTRIDER_TRY(const Rows before, writer->session().run(rows_read_sql));
    POSTRIDER_TRY(Removed done, remove_expired(*writer, keys, all_expired()));
    POSTRIDER_TRY(const Rows after, writer->session().run(rows_read_sql));
    read = after.integer(0, 0) - before.integer(0, 0);
    return done;
  });
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_EQ(*removed, (Removed{.events = 200,
                               .deliveries = 200,
                               .attempts = 200,
                               .dead_letters = {{Data::tenant(0), 2}}}));
  // Found, locked, counted and deleted; the oldest event is looked up for the shapes.
  EXPECT_LE(read, 8 * 200 + 20);
}

TEST_F(RetentionRows, ALargeMonthIsExaminedByIndexes) {
  const std::unique_ptr<Writer> writer = open_writer();
  // January holds the first two hours. The events of February are still young.
  RetentionCutoffs cutoffs = all_expired();
  cutoffs.events = *parse_rfc3339("2026-02-01T00:00:00Z");
  const std::int64_t in_january = 7'199;
  // All conditions hold but the last one, which is about dead letters.
  RetentionCutoffs too_early = cutoffs;
  too_early.dead_letters = time_of(7'100) - Millis{1};
  const DropLimits patient{
      .lock_max = Millis{5'000}, .search_max = Millis{5'000}, .vacuum_max = Millis{5'000}};
  std::int64_t read = 0;
  const Result<void> kept = writer->transact([&]() -> Result<void> {
    POSTRIDER_TRY(const Rows before, writer->session().run(rows_read_sql));
    POSTRIDER_TRY(const auto month, remove_expired_month(*writer, too_early, patient));
    EXPECT_FALSE(month.has_value());
    POSTRIDER_TRY(const Rows after, writer->session().run(rows_read_sql));
    read = after.integer(0, 0) - before.integer(0, 0);
    return {};
  });
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_LE(read, in_january / Data::dead_step + 20);
  const Result<std::optional<Removed>> removed = remove_expired_month(*writer, cutoffs, patient);
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  ASSERT_TRUE(removed->has_value());
  EXPECT_EQ((*removed)->events, in_january);
  EXPECT_EQ((*removed)->dead_letters,
            (std::map<TenantId, std::uint64_t>{{Data::tenant(0), in_january / Data::dead_step}}));
}

}  // namespace
}  // namespace postrider::postgres
