#include "adapters/postgres/store/leases/lease_fence.h"

#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include "adapters/postgres/store/leases/lease_fixture.h"

namespace postrider::postgres {
namespace {

using Places = std::vector<std::size_t>;

class LeaseFenceTest : public test::LeaseTest {
 protected:
  Session open() {
    Result<Session> opened = Session::open(tables_.connect(), interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return *std::move(opened);
  }

  /// In the transaction of the session, if one has begun.
  static Places lost(Session& session, const std::vector<ShardEpoch>& shards) {
    LeaseFence fence;
    for (const ShardEpoch& shard : shards) {
      fence.add("", shard);
    }
    const std::size_t answer = fence.queue(session);
    const Result<std::vector<Rows>> answers = session.exchange();
    EXPECT_TRUE(answers.has_value()) << answers.error().message;
    return answers ? LeaseFence::lost((*answers)[answer]) : Places{};
  }

  static void run(Session& session, const std::string& sql) {
    const Result<Rows> done = session.run_once(sql);
    ASSERT_TRUE(done.has_value()) << sql << ": " << done.error().message;
  }

  /// Returns when a statement of another session waits for a lock.
  static void await_waiter(Session& session) {
    for (int tries = 0; tries < 100'000; ++tries) {
      const Result<Rows> waiting = session.run(
          "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
          " WHERE NOT l.granted AND a.query LIKE '%shard_lease%'");
      ASSERT_TRUE(waiting.has_value()) << waiting.error().message;
      if (waiting->integer(0, 0) > 0) {
        return;
      }
    }
    FAIL() << "nothing waits";
  }

  Interruption interruption_;
};

TEST_F(LeaseFenceTest, TellsWhichLeasesWereTakenOrReleased) {
  turn(*first_, {.take = {3, 4, 5}});
  turn(*first_, {.release = {{.shard = 5, .epoch = 1}, {.shard = 4, .epoch = 1}}});
  turn(*second_, {.take = {4}});
  Session session = open();
  EXPECT_EQ(lost(session, {{.shard = 3, .epoch = 1}}), Places{});
  EXPECT_EQ(lost(session, {{.shard = 5, .epoch = 1},
                           {.shard = 4, .epoch = 2},
                           {.shard = 3, .epoch = 2},
                           {.shard = 3, .epoch = 1},
                           {.shard = 4, .epoch = 1},
                           {.shard = 6, .epoch = 0},
                           {.shard = 300, .epoch = 1}}),
            (Places{0, 2, 4, 5, 6}));
}

TEST_F(LeaseFenceTest, PoolsAreApart) {
  turn(*first_, {.take = {3}});
  LeaseFence fence;
  fence.add("gold", {.shard = 3, .epoch = 1});
  fence.add("", {.shard = 3, .epoch = 1});
  EXPECT_EQ(fence.size(), 2u);
  Session session = open();
  const std::size_t answer = fence.queue(session);
  EXPECT_EQ(LeaseFence::lost((*session.exchange())[answer]), Places{0});
}

TEST_F(LeaseFenceTest, AnExpiredLeaseThatNobodyHasTakenIsNotLost) {
  turn(*first_, {.take = {3}});
  tables_.pass(length);
  turn(*second_);
  Session session = open();
  EXPECT_EQ(lost(session, {{.shard = 3, .epoch = 1}}), Places{});
}

TEST_F(LeaseFenceTest, AShardCannotBeTakenBeforeTheTransactionEnds) {
  turn(*first_, {.take = {3, 4}});
  tables_.pass(length);
  Session session = open();
  run(session, "BEGIN");
  EXPECT_EQ(lost(session, {{.shard = 3, .epoch = 1}}), Places{});
  // The turn waits for nothing, and gets what it can.
  ClusterView view = turn(*second_, {.take = {3, 4}});
  EXPECT_EQ(view.leases[3].owner, held(1, 1).owner);
  EXPECT_EQ(view.leases[3].epoch, 1);
  EXPECT_EQ(view.leases[4], held(2, 2));
  run(session, "COMMIT");
  EXPECT_EQ(turn(*second_, {.take = {3}}).leases[3], held(2, 2));
  EXPECT_EQ(lost(session, {{.shard = 3, .epoch = 1}}), Places{0});
}

TEST_F(LeaseFenceTest, ALeaseIsRenewedWhileATransactionIsRunning) {
  turn(*first_, {.take = {3}});
  Session session = open();
  run(session, "BEGIN");
  EXPECT_EQ(lost(session, {{.shard = 3, .epoch = 1}}), Places{});
  tables_.pass(length / 2);
  EXPECT_EQ(turn(*first_).leases[3], held(1, 1));
  tables_.pass(length / 2);
  EXPECT_EQ(turn(*second_).leases[3], held(1, 1));
  run(session, "COMMIT");
}

TEST_F(LeaseFenceTest, TwoTransactionsCanRunUnderOneLease) {
  turn(*first_, {.take = {3}});
  Session one = open();
  Session other = open();
  run(one, "BEGIN");
  run(other, "BEGIN");
  EXPECT_EQ(lost(one, {{.shard = 3, .epoch = 1}}), Places{});
  EXPECT_EQ(lost(other, {{.shard = 3, .epoch = 1}}), Places{});
  run(one, "COMMIT");
  run(other, "COMMIT");
}

TEST_F(LeaseFenceTest, ATransactionThatWaitsForATakeoverSeesIt) {
  turn(*first_, {.take = {3}});
  Session taker = open();
  run(taker, "BEGIN");
  run(taker, "SELECT FROM shard_lease WHERE shard = 3 FOR UPDATE");
  run(taker, "UPDATE shard_lease SET owner = gen_random_uuid(), epoch = 2 WHERE shard = 3");
  std::future<Places> waiting = std::async(std::launch::async, [this] {
    Session session = open();
    return lost(session, {{.shard = 3, .epoch = 1}, {.shard = 3, .epoch = 2}});
  });
  Session observer = open();
  await_waiter(observer);
  run(taker, "COMMIT");
  // What it waited for in vain does not count. The next transaction sees the new epoch.
  EXPECT_EQ(waiting.get(), (Places{0, 1}));
  EXPECT_EQ(lost(taker, {{.shard = 3, .epoch = 2}}), Places{});
}

}  // namespace
}  // namespace postrider::postgres
