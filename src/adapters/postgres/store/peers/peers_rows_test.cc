// Checks that the calls of Peers read few rows of large tables, as ledger_rows_test.cc does for the
// ledger.
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/history/history_data.h"
#include "adapters/postgres/store/peers/peers.h"
#include "adapters/postgres/store/peers/shard_fence.h"

namespace postrider::postgres {
namespace {

using Data = HistoryData;

constexpr std::string_view rows_read_sql =
    "SELECT CAST(coalesce(sum(seq_tup_read + idx_tup_fetch), 0) AS bigint)"
    " FROM pg_stat_xact_user_tables";

/// A node that holds all shards with odd numbers. The tests share a store.
class PeersRows : public testing::Test {
 protected:
  static constexpr int rows_per_shard = 100;

  static void SetUpTestSuite() {
    data_ = std::make_unique<Data>();
    data_->fill();
    data_->run(
        "INSERT INTO webhook SELECT (jsonb_populate_record(NULL::webhook, jsonb_build_object("
        " 'id', w.id, 'tenant_id', 'acme') || w.others)).* FROM (SELECT DISTINCT webhook_id AS id,"
        " (SELECT jsonb_object_agg(attname, CASE format_type(atttypid, NULL)"
        "   WHEN 'bytea' THEN '\\\\x'::text WHEN 'text' THEN '' ELSE '0' END)"
        "  FROM pg_attribute WHERE attrelid = 'webhook'::regclass AND attnum > 0 AND attnotnull"
        "   AND attname NOT IN ('id', 'tenant_id')) AS others FROM waiting) w");
    data_->run(
        "INSERT INTO shard_lease (pool, shard, owner, epoch, expires_at)"
        " SELECT '', s, gen_random_uuid(), 1, 0 FROM generate_series(0, 255) s");
    // Each row of a shard names a delivery.
    data_->run(
        fmt::format("INSERT INTO handoff (pool, shard, kind, sequences)"
                    " SELECT '', s, 0, ARRAY[20001 + (s * {0} + n) % 5000]"
                    " FROM generate_series(0, 255) s, generate_series(1, {0}) n",
                    rows_per_shard));
    Result<std::unique_ptr<Writer>> opened = Writer::open(data_->options());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    writer_ = *std::move(opened);
    peers_ = make_peers(writer_, std::make_shared<HeldShards>());
    peers_->join("");
  }
  static void TearDownTestSuite() {
    peers_.reset();
    writer_.reset();
    data_.reset();
  }
  PeersRows() {
    for (int shard = 0; shard < shard_count; ++shard) {
      peers_->release(static_cast<ShardNumber>(shard));
    }
  }

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

  static std::int64_t receive(std::size_t limit, HandedOver& handed) {
    return rows_read([&]() -> Result<void> {
      POSTRIDER_TRY(handed, peers_->receive(limit));
      return {};
    });
  }

  static inline std::unique_ptr<Data> data_;
  static inline std::shared_ptr<Writer> writer_;
  static inline std::unique_ptr<Peers> peers_;
};

TEST_F(PeersRows, WhatIsForOthersIsNotRead) {
  data_->run("DELETE FROM handoff WHERE shard % 2 = 1");
  for (int shard = 1; shard < shard_count; shard += 2) {
    peers_->hold({.shard = static_cast<ShardNumber>(shard), .epoch = 1});
  }
  HandedOver handed;
  EXPECT_LE(receive(1'000, handed), shard_count / 2 + 2);
  EXPECT_EQ(handed.taken, 0u);
}

TEST_F(PeersRows, AReceiveReadsTheRowsThatItReturns) {
  for (const ShardNumber shard : std::initializer_list<ShardNumber>{2, 4, 6, 8}) {
    peers_->hold({.shard = shard, .epoch = 1});
  }
  HandedOver handed;
  // The lease, the row, the delivery, and the row again when it is removed.
  EXPECT_LE(receive(150, handed), 3 * 150 + 10);
  EXPECT_EQ(handed.taken, 150u);
  EXPECT_EQ(handed.deliveries.size(), 150u);
  EXPECT_TRUE(handed.more);
}

TEST_F(PeersRows, AFenceReadsTheLeasesThatItNames) {
  HeldShards held;
  held.join("");
  ShardFence fence{held};
  for (ShardNumber shard = 0; shard < 100; ++shard) {
    held.hold({.shard = shard, .epoch = 1});
    fence.add(shard);
  }
  EXPECT_LE(rows_read([&] { return fence.check(writer_->session()); }), 2 * 100);
  EXPECT_TRUE(fence.allows(99));
}

TEST_F(PeersRows, TheBacklogOfAShardReadsAFewRowsOfEachLane) {
  std::size_t found = 0;
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    ASSERT_TRUE(peers_->backlog(shard).has_value());  // The first call reads the webhooks.
    std::vector<LaneBacklog> lanes;
    const std::int64_t read = rows_read([&]() -> Result<void> {
      POSTRIDER_TRY(lanes, peers_->backlog(shard));
      return {};
    });
    EXPECT_LE(read, 1 + 5 * std::ssize(lanes));
    found += lanes.size();
  }
  EXPECT_EQ(found, static_cast<std::size_t>(Data::webhook_count));
}

}  // namespace
}  // namespace postrider::postgres
