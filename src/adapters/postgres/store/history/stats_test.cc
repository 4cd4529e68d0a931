// Sums of several nodes, and of many rows.
#include "adapters/postgres/store/history/stats.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/stored/tally_bytes.h"

#include "adapters/postgres/store/history/history_data.h"

namespace postrider::postgres {
namespace {

const WallTime start = *parse_rfc3339("2026-02-01T12:00:00Z");
const std::int64_t first_span = stats_span_of(start);

class PostgresStatsTest : public testing::Test {
 protected:
  static std::string packed(const DeliveryTally& tally) {
    std::string bytes;
    stored::pack_tally(tally, bytes);
    return bytes;
  }

  /// The sum that node `writer` keeps of webhook 1, and of its tenant.
  void add(std::int64_t span, int writer, const DeliveryTally& tally) {
    data_.run(
        "INSERT INTO webhook_stats (span, webhook_id, tenant_id, writer, tally)"
        " VALUES ($1, $2, 'acme', $3, $4)",
        Parameters::of(span, HistoryData::webhook(1), HistoryData::event(writer),
                       Blob{packed(tally)}));
    data_.run(
        "INSERT INTO tenant_stats (span, tenant_id, writer, tally) VALUES ($1, 'acme', $2, $3)",
        Parameters::of(span, HistoryData::event(writer), Blob{packed(tally)}));
  }

  StatsFilter hour() const { return {.from = start, .to = start + std::chrono::hours{1}}; }

  HistoryData data_;
  std::unique_ptr<Stats> stats_ = make_stats(data_.connect());
};

TEST_F(PostgresStatsTest, TheSumsOfAllNodesAreAddedUp) {
  add(first_span, 1, {.published = 1, .attempts = 2});
  add(first_span, 2, {.published = 10, .attempts = 20});
  add(first_span + 1, 1, {.attempts = 5});
  for (const bool by_tenant : {false, true}) {
    StatsFilter filter = hour();
    if (by_tenant) {
      filter.tenant_id = "acme";
    }
    const auto spans = stats_->over_time(filter, stats_span);
    ASSERT_TRUE(spans.has_value()) << spans.error().message;
    ASSERT_EQ(spans->size(), 2u);
    EXPECT_EQ(spans->at(0).start, start);
    EXPECT_EQ(spans->at(0).tally.attempts, 22u);
    EXPECT_EQ(spans->at(1).tally.attempts, 5u);
    EXPECT_EQ(stats_->by_webhook(filter)->front().tally.attempts, 27u);
  }
}

TEST_F(PostgresStatsTest, ANodeMayTakeAwayWhatAnotherCounted) {
  DeliveryTally below_zero;
  --below_zero.now_succeeded;
  add(first_span, 1, {.attempts = 3, .now_succeeded = 3});
  add(first_span, 2, below_zero);
  EXPECT_EQ(stats_->over_time(hour(), stats_span)->at(0).tally.now_succeeded, 2u);
  EXPECT_EQ(stats_->by_webhook(hour())->at(0).tally.now_succeeded, 2u);
}

TEST_F(PostgresStatsTest, ACountIsNotBelowZero) {
  DeliveryTally below_zero{.attempts = 1};
  --below_zero.now_dead_letter;
  add(first_span, 1, below_zero);
  EXPECT_EQ(stats_->over_time(hour(), stats_span)->at(0).tally.now_dead_letter, 0u);
  EXPECT_EQ(stats_->by_webhook(hour())->at(0).tally.now_dead_letter, 0u);
}

TEST_F(PostgresStatsTest, EmptySumsAreLeftOut) {
  DeliveryTally below_zero;
  --below_zero.now_succeeded;
  add(first_span, 1, {.now_succeeded = 1});
  add(first_span, 2, below_zero);
  EXPECT_TRUE(stats_->over_time(hour(), stats_span)->empty());
  EXPECT_TRUE(stats_->by_webhook(hour())->empty());
}

TEST_F(PostgresStatsTest, ATenantIsFoundInARangeWithoutEnd) {
  add(first_span, 1, {.attempts = 3});
  const StatsFilter always{
      .from = wall_time_min, .to = wall_time_max, .webhook_id = {}, .tenant_id = "acme"};
  const auto spans = stats_->over_time(always, stats_span);
  ASSERT_TRUE(spans.has_value()) << spans.error().message;
  EXPECT_EQ(spans->size(), 1u);
}

TEST_F(PostgresStatsTest, ATenantOfAnEmptyStoreHasNoSums) {
  const StatsFilter always{
      .from = wall_time_min, .to = wall_time_max, .webhook_id = {}, .tenant_id = "acme"};
  EXPECT_TRUE(stats_->over_time(always, stats_span)->empty());
}

TEST_F(PostgresStatsTest, MoreRowsAreReadThanFitIntoOneAnswer) {
  constexpr int count = 25'000;
  data_.run(
      "INSERT INTO webhook_stats (span, webhook_id, tenant_id, writer, tally)"
      " SELECT $1, gen_random_uuid(), 'acme', $2, $3 FROM generate_series(1, $4)",
      Parameters::of(first_span, HistoryData::event(1), Blob{packed({.attempts = 1})},
                     std::int64_t{count}));
  const auto webhooks = stats_->by_webhook(hour());
  ASSERT_TRUE(webhooks.has_value()) << webhooks.error().message;
  EXPECT_EQ(webhooks->size(), count);
}

}  // namespace
}  // namespace postrider::postgres
