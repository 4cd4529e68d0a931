// The writer and the readers when the database, the network or a connection pool fail them.

#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/database/reader.h"
#include "adapters/postgres/store/database/writer_fixture.h"

namespace postrider::postgres {
namespace {

using postrider::test::postgres_server;
using postrider::test::run_as_admin;
using postrider::test::ServerProcess;
using test::open_writer;
using test::read_number;
using test::set_number;

class FailureTest : public test::WriterFixture {
 protected:
  /// Fails the test unless the writer works, and the value is stored.
  void expect_usable(Writer& writer, int value) {
    const Result<void> done = writer.transact([&] { return set_number(writer, 2, value); });
    EXPECT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(FailureTest::value(2), value);
  }

  void expect_unavailable(const Result<void>& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Errc::unavailable);
  }
};

class ProxyTest : public FailureTest {
 protected:
  PostgresOptions through_proxy(Millis statement_max = Millis{10'000}) {
    return {.connect = {.address = schema_.address(proxy_.member("port")),
                        .statement_max = statement_max}};
  }

  ServerProcess proxy_{"proxy", {postgres_server().member("port")}};
};

TEST_F(ProxyTest, WhereverTheConnectionEndsItIsKnownWhetherACommitWasStored) {
  int tried = 0;
  int unknown = 0;
  int stored = 0;
  bool is_first = true;
  int step = 211;  // While it is opened.
  for (int bytes = 0, finished = 0; finished < 1; bytes += step) {
    proxy_.command(fmt::format("cut_after {}", bytes));
    Result<std::unique_ptr<Writer>> opened = Writer::open(through_proxy());
    if (!opened) {
      EXPECT_EQ(opened.error().code, Errc::unavailable) << opened.error().message;
      continue;
    }
    if (std::exchange(is_first, false)) {
      bytes -= step;
      step = 11;
      continue;
    }
    Writer& writer = **opened;
    const int before = static_cast<int>(value(1));
    const Result<void> done = writer.transact([&] { return set_number(writer, 1, before + 1); });
    finished += done ? 1 : 0;
    if (done) {
      EXPECT_EQ(value(1), before + 1);
      continue;
    }
    ++tried;
    EXPECT_EQ(done.error().code, Errc::unavailable);
    EXPECT_FALSE(writer.usable().has_value());
    ASSERT_TRUE(writer.reopen().has_value());
    unknown += writer.lost_commit_was_stored().has_value() ? 1 : 0;
    stored += writer.lost_commit_was_stored() == true ? 1 : 0;
    EXPECT_EQ(value(1), before + (writer.lost_commit_was_stored().value_or(false) ? 1 : 0));
    expect_usable(writer, bytes + 1);
  }
  EXPECT_GT(tried, unknown);
  EXPECT_GT(unknown, 0);
  EXPECT_GT(stored, 0);
}

TEST_F(ProxyTest, AServerThatDoesNotAnswerIsGivenUp) {
  std::unique_ptr<Writer> writer = open_writer(through_proxy(Millis{100}));
  proxy_.command("hang");
  expect_unavailable(writer->transact([&] { return set_number(*writer, 1, 10); }));
  proxy_.command("resume");
  ASSERT_TRUE(writer->reopen().has_value());
  expect_usable(*writer, 11);
}

TEST_F(ProxyTest, AWriterWhoseServerCannotBeReachedStaysBroken) {
  std::unique_ptr<Writer> writer = open_writer(through_proxy());
  proxy_.command("refuse");
  expect_unavailable(writer->transact([&] { return set_number(*writer, 1, 10); }));
  expect_unavailable(writer->reopen());
  expect_unavailable(writer->usable());
  proxy_.command("resume");
  ASSERT_TRUE(writer->reopen().has_value());
  expect_usable(*writer, 11);
}

TEST_F(ProxyTest, AReaderConnectsAgain) {
  Result<std::shared_ptr<ReadConnection>> reader = ReadConnection::open(through_proxy());
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  const auto read = [&] {
    return (*reader)->read([](Session& session) { return read_number(session, 1); });
  };
  EXPECT_TRUE(read().has_value());
  proxy_.command("refuse");
  EXPECT_EQ(read().error().code, Errc::unavailable);
  EXPECT_EQ(read().error().code, Errc::unavailable);
  proxy_.command("resume");
  EXPECT_TRUE(read().has_value());
  proxy_.command("cut");
  EXPECT_TRUE(read().has_value());
}

TEST_F(FailureTest, ARestartOfTheServerIsSurvived) {
  for (const char* how : {"restart", "kill", "start"}) {
    postgres_server().command(how);
    if (std::string_view{how} == "kill") {
      expect_unavailable(writer_->transact([this] { return set(1, 10); }));
      expect_unavailable(writer_->reopen());
      continue;
    }
    expect_unavailable(writer_->transact([this] { return set(1, 10); }));
    ASSERT_TRUE(writer_->reopen().has_value());
    expect_usable(*writer_, 11);
  }
}

TEST_F(FailureTest, ACommitThatTheServerFinishedWithoutAnAnswerIsFound) {
  // A commit that waits for a standby is stored, and not answered if the session ends.
  run_as_admin("ALTER SYSTEM SET synchronous_standby_names = 'missing'");
  run_as_admin("SELECT pg_reload_conf()");
  std::jthread ends{[] {
    run_as_admin(
        "DO $$ BEGIN"
        " WHILE NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep') LOOP"
        "  PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END LOOP;"
        " PERFORM pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        "  WHERE wait_event = 'SyncRep'; END $$");
  }};
  int attempted = 0;
  Result<void> done;
  while (done) {  // The setting takes a moment.
    ++attempted;
    done = writer_->transact([&] { return set(1, attempted); });
  }
  ends.join();
  expect_unavailable(done);
  run_as_admin("ALTER SYSTEM RESET synchronous_standby_names");
  run_as_admin("SELECT pg_reload_conf()");
  ASSERT_TRUE(writer_->reopen().has_value());
  EXPECT_EQ(writer_->lost_commit_was_stored(), true);
  EXPECT_EQ(value(1), attempted);
}

TEST_F(FailureTest, AServerThatAcceptsNoChangesIsUnavailable) {
  run_as_admin("ALTER ROLE app SET default_transaction_read_only = on");
  const Result<std::unique_ptr<Writer>> opened =
      Writer::open({.connect = {.address = schema_.address()}});
  run_as_admin("ALTER ROLE app RESET default_transaction_read_only");
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Errc::unavailable);
}

TEST_F(FailureTest, AFullDiskIsUnavailableAndTheWriterStaysUsable) {
  run_as_admin("SET search_path = " + schema_.name() +
               "; CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS"
               " 'BEGIN RAISE disk_full; END';"
               " CREATE TRIGGER fill BEFORE UPDATE ON number FOR EACH ROW WHEN (new.value = 10)"
               " EXECUTE FUNCTION fill()");
  expect_unavailable(writer_->transact([this] { return set(1, 10); }));
  expect_usable(*writer_, 11);
}

TEST_F(FailureTest, ADatabaseThatWasReplacedIsRefused) {
  run_as_admin("UPDATE " + schema_.name() + ".postrider_schema SET identity = gen_random_uuid()");
  end_sessions();
  expect_unavailable(writer_->transact([this] { return set(1, 10); }));
  const Result<void> reopened = writer_->reopen();
  ASSERT_FALSE(reopened.has_value());
  EXPECT_EQ(reopened.error().code, Errc::corrupt);
}

TEST_F(FailureTest, ATransactionThatWaitsTooLongForALockFails) {
  std::unique_ptr<Writer> other =
      open_writer({.connect = {.address = schema_.address(), .statement_max = Millis{100}}});
  EXPECT_TRUE(writer_->transact([&]() -> Result<void> {
    POSTRIDER_CHECK(set(1, 10));
    expect_unavailable(other->transact([&] { return set_number(*other, 1, 11); }));
    EXPECT_TRUE(other->usable());
    return {};
  }));
  EXPECT_EQ(value(1), 10);
}

TEST_F(FailureTest, ATransactionThatPausesTooLongLosesItsLocks) {
  std::unique_ptr<Writer> paused = open_writer(
      {.connect = {.address = schema_.address(), .idle_in_transaction_max = Millis{200}}});
  expect_unavailable(paused->transact([&]() -> Result<void> {
    POSTRIDER_CHECK(set_number(*paused, 1, 10));
    EXPECT_TRUE(writer_->transact([this] { return set(1, 11); }).has_value());
    return set_number(*paused, 2, 10);
  }));
  EXPECT_EQ(value(1), 11);
  EXPECT_EQ(value(2), 0);
}

class PoolTest : public testing::Test {
 protected:
  // A pool accepts no search_path in an address.
  PoolTest() {
    run_as_admin("CREATE DATABASE pooled OWNER app STRATEGY file_copy");
    pool_ = std::make_unique<ServerProcess>(
        "pgbouncer", std::vector<std::string>{postgres_server().member("port"), "pooled", "3"});
  }
  ~PoolTest() override {
    writer_.reset();
    pool_.reset();
    run_as_admin("DROP DATABASE pooled WITH (FORCE)");
  }

  PostgresOptions options() { return {.connect = {.address = Secret{pool_->member("address")}}}; }

  void expect_unavailable(const Result<void>& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Errc::unavailable);
  }

  /// Waits until a session of the role matches the condition.
  static void wait_in_database(const std::string& condition) {
    run_as_admin(
        "DO $$ BEGIN FOR i IN 1..1000 LOOP"
        " IF EXISTS (SELECT 1 FROM pg_stat_activity WHERE usename = 'app' AND " +
        condition +
        ") THEN RETURN; END IF;"
        " PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END LOOP;"
        " RAISE 'no session matches'; END $$");
  }

  std::unique_ptr<ServerProcess> pool_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(PoolTest, SeveralNodesShareTheSessionsOfAPool) {
  writer_ = open_writer(options());
  EXPECT_TRUE(writer_->session().is_pooled());
  std::unique_ptr<Writer> other = open_writer(options());
  std::shared_ptr<ReadConnection> reader = *ReadConnection::open(options());
  EXPECT_TRUE(writer_->transact([&]() -> Result<void> {
    POSTRIDER_CHECK(writer_->session().run("CREATE TABLE number (n bigint, value bigint)"));
    POSTRIDER_CHECK(writer_->session().run("INSERT INTO number VALUES (1, 0)"));
    return {};
  }));
  for (int round = 1; round <= 5; ++round) {
    for (Writer* writer : {writer_.get(), other.get()}) {
      const Result<void> done = writer->transact([&]() -> Result<void> {
        POSTRIDER_CHECK(writer->lock_audit_chain());
        POSTRIDER_TRY(sql::Statement update,
                      writer->database().prepare("UPDATE number SET value = ?1 WHERE n = ?2"));
        return update.run(round, 1);
      });
      EXPECT_TRUE(done.has_value()) << done.error().message;
      EXPECT_EQ(reader->read([](Session& session) { return read_number(session, 1); }), round);
    }
  }
}

TEST_F(PoolTest, SettingsAreThoseOfTheTransaction) {
  writer_ = open_writer(options());
  EXPECT_TRUE(writer_->transact([&]() -> Result<void> {
    POSTRIDER_TRY(const Rows rows,
                  writer_->session().run("SELECT current_setting('lock_timeout')"));
    EXPECT_EQ(rows.text(0, 0), "5s");
    return {};
  }));
}

TEST_F(PoolTest, ACommitIsNotTakenForLostWhileItsTransactionRuns) {
  ServerProcess proxy{"proxy", {pool_->member("port")}};
  std::string address = pool_->member("address");
  address.replace(address.find(pool_->member("port")), pool_->member("port").size(),
                  proxy.member("port"));
  writer_ = open_writer({.connect = {.address = Secret{address}}});
  std::unique_ptr<Writer> other = open_writer(options());
  ASSERT_TRUE(other->transact([&]() -> Result<void> {
    POSTRIDER_CHECK(other->session().run("CREATE TABLE number (n bigint, value bigint)"));
    POSTRIDER_CHECK(other->session().run("INSERT INTO number VALUES (1, 0)"));
    return {};
  }));
  Result<void> reopened;
  std::jthread reopens;
  ASSERT_TRUE(other->transact([&]() -> Result<void> {
    POSTRIDER_CHECK(set_number(*other, 1, 10));
    std::jthread cuts{[&] {
      wait_in_database("wait_event_type = 'Lock'");
      proxy.command("cut");
    }};
    expect_unavailable(writer_->transact([&] {
      writer_->session().queue("UPDATE number SET value = value + 1 WHERE n = 1");
      return Result<void>{};
    }));
    reopens = std::jthread{[&] { reopened = writer_->reopen(); }};
    wait_in_database("query LIKE 'SELECT pg_sleep(0.1)%'");
    return {};
  }));
  reopens.join();
  ASSERT_TRUE(reopened.has_value()) << reopened.error().message;
  EXPECT_EQ(writer_->lost_commit_was_stored(), true);
  const Result<std::int64_t> value =
      other->transact([&]() -> Result<std::int64_t> { return read_number(other->session(), 1); });
  EXPECT_EQ(value, 11);
}

TEST_F(PoolTest, APoolThatEndsIsUnavailable) {
  writer_ = open_writer(options());
  pool_.reset();
  const Result<void> lost =
      writer_->transact([&]() -> Result<void> { return writer_->lock_audit_chain(); });
  EXPECT_EQ(lost.error().code, Errc::unavailable);
  EXPECT_EQ(writer_->reopen().error().code, Errc::unavailable);
}

}  // namespace
}  // namespace postrider::postgres
