// Checks that the ledger reads few rows of large tables, as history_plan_test.cc does for lists.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/postgres/store/history/history_data.h"
#include "adapters/postgres/store/ledger/ledger.h"
#include "adapters/postgres/store/ledger/webhook_deliveries.h"

#include "tests/contract/store_script.h"

namespace postrider::postgres {
namespace {

using Data = HistoryData;
using postrider::test::StoreScript;

constexpr std::string_view rows_read_sql =
    "SELECT CAST(coalesce(sum(seq_tup_read + idx_tup_fetch), 0) AS bigint)"
    " FROM pg_stat_xact_user_tables";

/// The tests share a store. Each changes other deliveries.
class LedgerRows : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data_ = std::make_unique<Data>();
    data_->fill();
    data_->run("SELECT setval('sequence_block', 1000)");
    Result<std::unique_ptr<Writer>> opened = Writer::open(data_->options());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    writer_ = *std::move(opened);
    ledger_ = make_ledger(writer_, std::make_shared<HeldShards>());
  }
  static void TearDownTestSuite() {
    ledger_.reset();
    writer_.reset();
    data_.reset();
  }

  LedgerRows() { script_.now = wall_from_unix_ms(Data::time_of(Data::delivery_count)); }

  /// The rows that `body` reads.
  static std::int64_t rows_read(const std::function<Result<void>()>& body) {
    std::int64_t read = 0;
    const Result<void> done = writer_->transact([&]() -> Result<void> {
      POSTRIDER_TRY(const Rows before, writer_->session().run(rows_read_sql));
      POSTRIDER_CHECK(body());
      POSTRIDER_TRY(const Rows after, writer_->session().run(rows_read_sql));
      read = after.integer(0, 0) - before.integer(0, 0);
      return {};
    });
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return read;
  }

  static std::int64_t rows_read(const LoadLane& query, LanePage& page) {
    return rows_read([&]() -> Result<void> {
      POSTRIDER_TRY(page, ledger_->load_lane(query));
      return {};
    });
  }

  [[nodiscard]] static Delivery waiting(int number) {
    return {.id = Data::delivery(number),
            .event_id = Data::event(number),
            .webhook_id = Data::webhook(number % Data::webhook_count),
            .sequence = number};
  }

  static inline std::unique_ptr<Data> data_;
  static inline std::shared_ptr<Writer> writer_;
  static inline std::unique_ptr<Ledger> ledger_;
  StoreScript script_;
};

constexpr int first_waiting = Data::final_count + 1;

TEST_F(LedgerRows, ABatchReadsTheRowsThatItNames) {
  Batch batch;
  for (int i = 0; i < 100; ++i) {
    Publish publish = script_.publish({Data::webhook(1)}, {.key = "key " + std::to_string(i)});
    publish.row = SourceRow{.source = "orders", .row_id = std::to_string(i)};
    batch.publishes.push_back(std::move(publish));
    batch.settlements.push_back(i % 2 == 0
                                    ? script_.success(waiting(first_waiting + i))
                                    : script_.retry(waiting(first_waiting + i), script_.now));
    batch.revivals.push_back(
        {.delivery_id = Data::delivery(Data::dead_step * (i + 1)), .now = script_.now});
    batch.late_deliveries.push_back(
        script_.add_late_delivery(Data::event(i + 1), Data::webhook(i % 50 == 0 ? 2 : 1)));
  }
  BatchReceipt receipt;
  const std::int64_t read = rows_read([&]() -> Result<void> {
    POSTRIDER_TRY(receipt, ledger_->commit(batch));
    return {};
  });
  // Each row is found, and found again by the statement that changes it. A deleted row is read by
  // the statement that adds it elsewhere.
  EXPECT_LE(read, 400 * 5);
  EXPECT_EQ(receipt.waiting_change.total(), 100 + 100 + 100 - 50);
  EXPECT_TRUE(receipt.revived_meanwhile.empty());
}

TEST_F(LedgerRows, APageOfALaneReadsItsRows) {
  LanePage page;
  LoadLane query{.webhook_id = Data::webhook(7), .due_before = wall_time_max, .limit = 10};
  EXPECT_LE(rows_read(query, page), 30);
  EXPECT_EQ(page.deliveries.size(), 10u);
  query.ordering = Ordering::strict;
  EXPECT_LE(rows_read(query, page), 30);
  EXPECT_EQ(page.deliveries.size(), 10u);
  query.ordering = Ordering::per_event_type;
  ASSERT_TRUE(ledger_->load_lane(query).has_value());  // Adds the lane to the index.
  EXPECT_LE(rows_read(query, page), 30);
  EXPECT_EQ(page.deliveries.size(), 10u);
}

TEST_F(LedgerRows, TheBacklogReadsAFewRowsOfEachLane) {
  std::vector<LaneBacklog> lanes;
  const std::int64_t read = rows_read([&]() -> Result<void> {
    POSTRIDER_TRY(lanes, ledger_->backlog());
    return {};
  });
  EXPECT_EQ(lanes.size(), static_cast<std::size_t>(Data::webhook_count));
  EXPECT_LE(read, 5 * Data::webhook_count);
}

TEST_F(LedgerRows, AStepOfReschedulingReadsItsRows) {
  RetryPolicy quick;
  quick.delay_base = Millis{1};
  quick.attempts_max = 1;
  BroughtForward step;
  const std::int64_t read = rows_read([&]() -> Result<void> {
    POSTRIDER_TRY(step, ledger_->bring_forward({.webhook_id = Data::webhook(9),
                                                .policy = quick,
                                                .now = wall_from_unix_ms(0),
                                                .after = {},
                                                .limit = 10}));
    return {};
  });
  EXPECT_EQ(step.moved.size(), 10u);
  EXPECT_LE(read, 60);
}

TEST_F(LedgerRows, RecentCallsReadTheirAttempts) {
  std::vector<PastCall> calls;
  const std::int64_t read = rows_read([&]() -> Result<void> {
    POSTRIDER_TRY(calls, ledger_->recent_calls(Data::webhook(3), {.limit = 20}));
    return {};
  });
  EXPECT_EQ(calls.size(), 20u);
  EXPECT_LE(read, 30);
}

TEST_F(LedgerRows, CancellingReadsTheRowsThatItMoves) {
  TenantCounts cancelled;
  const auto deliveries = make_webhook_deliveries(writer_);
  const std::int64_t read = rows_read([&]() -> Result<void> {
    POSTRIDER_TRY(cancelled, deliveries->cancel_waiting(Data::webhook(11), script_.now, 20));
    return {};
  });
  EXPECT_EQ(cancelled.total(), 20);
  EXPECT_LE(read, 80);
}

}  // namespace
}  // namespace postrider::postgres
