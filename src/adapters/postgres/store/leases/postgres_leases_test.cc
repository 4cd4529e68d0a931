#include "adapters/postgres/store/leases/postgres_leases.h"

#include <chrono>

#include <gtest/gtest.h>

#include "adapters/postgres/store/leases/lease_fixture.h"

#include "tests/contract/lease_contract.h"
#include "tests/support/server_process.h"

namespace postrider::postgres {
namespace {

using namespace std::chrono_literals;
using postrider::test::postgres_server;
using postrider::test::run_as_admin;
using postrider::test::ServerProcess;

using PostgresLeasesTest = test::LeaseTest;

TEST_F(PostgresLeasesTest, AClockThatIsSetForwardEndsNoLease) {
  turn(*first_, {.take = {3}});
  tables_.jump(24h);
  const ClusterView view = turn(*second_, {.take = {3}});
  EXPECT_EQ(view.leases[3], held(1, 1));
  ASSERT_EQ(view.nodes.size(), 2u);
  EXPECT_GE(view.nodes[0].left, length * 4 / 5 - 1min);  // As if a fifth of a lease had passed.
  EXPECT_LE(view.nodes[0].left, length * 4 / 5);
}

TEST_F(PostgresLeasesTest, AClockThatIsSetBackDoesNotMakeLeasesLonger) {
  turn(*first_, {.take = {3}});
  tables_.jump(-24h);
  const ClusterView view = turn(*second_, {.take = {3}});
  EXPECT_EQ(view.leases[3], held(1, 1));
  EXPECT_LE(view.nodes[0].left, length);
  tables_.jump(10min);  // Time goes on.
  EXPECT_LE(turn(*second_).nodes[0].left, length - 10min);
  tables_.pass(50min);
  EXPECT_EQ(turn(*second_, {.take = {3}}).leases[3], held(2, 2));
}

TEST_F(PostgresLeasesTest, ALostConnectionIsMadeAgain) {
  turn(*first_, {.take = {3}});
  tables_.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app'");
  const Result<ClusterView> lost = first_->take_turn({.length = length});
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Errc::unavailable);
  EXPECT_EQ(turn(*first_).leases[3], held(1, 1));
}

TEST_F(PostgresLeasesTest, WhereverTheConnectionEndsATurnIsTakenAsAWholeOrNotAtAll) {
  ServerProcess proxy{"proxy", {postgres_server().member("port")}};
  const auto node = make_postgres_leases(
      {.address = tables_.schema().address(proxy.member("port"))}, tables_.identity(3));
  int taken = 0;
  int not_taken = 0;
  bool answered = false;
  for (int bytes = 100; !answered; bytes += 400) {
    const Lease before = turn(*second_).leases[9];
    proxy.command("cut_after " + std::to_string(bytes));
    const LeaseTurn wish{.length = length, .release = {{9, before.epoch}}, .take = {9, 10}};
    const Result<ClusterView> view = node->take_turn(wish);
    answered = view.has_value();
    if (!answered) {
      EXPECT_EQ(view.error().code, Errc::unavailable);
    }
    const ClusterView after = turn(*second_);
    const bool was_taken = after.leases[9].epoch == before.epoch + 1;
    (was_taken ? taken : not_taken) += 1;
    EXPECT_TRUE(was_taken || after.leases[9] == before);
    EXPECT_EQ(after.leases[10].owner.has_value(), taken > 0);
  }
  EXPECT_GT(taken, 1);
  EXPECT_GT(not_taken, 0);
}

TEST_F(PostgresLeasesTest, WorksThroughAConnectionPoolInTransactionMode) {
  // A pool accepts no search_path in an address.
  run_as_admin("CREATE DATABASE pooled_leases OWNER app STRATEGY file_copy");
  {
    const ServerProcess pool{"pgbouncer", {postgres_server().member("port"), "pooled_leases", "2"}};
    const ConnectOptions connect{.address = Secret{pool.member("address")}};
    const Interruption interruption;
    Result<Session> session = Session::open(connect, interruption);
    ASSERT_TRUE(session.has_value()) << session.error().message;
    ASSERT_TRUE(migrate(*session).has_value());
    const auto one = make_postgres_leases(connect, tables_.identity(1));
    const auto other = make_postgres_leases(connect, tables_.identity(2));
    EXPECT_EQ(turn(*one, {.take = {3}}).leases[3], held(1, 1));
    EXPECT_EQ(turn(*other, {.take = {3}}).leases[3], held(1, 1));
    EXPECT_TRUE(one->leave().has_value());
    EXPECT_EQ(turn(*other, {.take = {3}}).leases[3], held(2, 2));
  }
  run_as_admin("DROP DATABASE pooled_leases WITH (FORCE)");
}

TEST_F(PostgresLeasesTest, WorksWhateverTheDefaultOfTransactionsIs) {
  std::string address = tables_.schema().address().reveal();
  ASSERT_TRUE(address.ends_with("'"));
  address.pop_back();
  address += " -c default_transaction_isolation=serializable -c default_transaction_read_only=on'";
  const auto node = make_postgres_leases({.address = Secret{address}}, tables_.identity(3));
  EXPECT_EQ(turn(*node, {.take = {3}}).leases[3], held(3, 1));
  EXPECT_TRUE(node->leave().has_value());
}

TEST_F(PostgresLeasesTest, ADatabaseThatCannotBeUsedIsUnavailable) {
  const auto refused = make_postgres_leases(
      {.address = Secret<std::string>{"postgres://app@127.0.0.1:1/app"}}, tables_.identity(3));
  EXPECT_EQ(refused->take_turn({.length = length}).error().code, Errc::unavailable);
  EXPECT_EQ(refused->leave().error().code, Errc::unavailable);
  const postrider::test::PostgresSchema empty;
  const auto lost = make_postgres_leases({.address = empty.address()}, tables_.identity(3));
  EXPECT_EQ(lost->take_turn({.length = length}).error().code, Errc::unavailable);
  tables_.run("INSERT INTO shard_lease (pool, shard) VALUES ('', 0)");
  EXPECT_EQ(first_->take_turn({.length = length}).error().code, Errc::unavailable);
}

TEST_F(PostgresLeasesTest, ATurnDoesNotWaitLongForADatabaseThatDoesNotAnswer) {
  const auto hung = make_postgres_leases(
      {.address = Secret{"postgres://a@" + postgres_server().member("silent_address") + "/a"}},
      tables_.identity(3));
  EXPECT_EQ(hung->take_turn({.length = 120ms}).error().code, Errc::unavailable);
}

}  // namespace
}  // namespace postrider::postgres

namespace postrider::test {
namespace {

class PostgresLeaseBench final : public LeaseBench {
 public:
  std::unique_ptr<Leases> join(NodeIdentity identity) override {
    return make_postgres_leases(tables_.connect(), std::move(identity));
  }
  void pass(Millis time) override { tables_.pass(time); }

 private:
  postgres::test::LeaseTables tables_;
};

}  // namespace

POSTRIDER_LEASE_CONTRACT(Postgres,
                         LeaseBenchFactory{"postgres",
                                           [] { return std::make_unique<PostgresLeaseBench>(); }});

}  // namespace postrider::test
