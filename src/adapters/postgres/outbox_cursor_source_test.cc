#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

#include "adapters/postgres/outbox_queries.h"
#include "adapters/postgres/outbox_source.h"
#include "adapters/postgres/test_server.h"

#include "tests/contract/source_contract.h"

namespace postrider::test {
namespace {

using postgres::test::make_outbox;
using postgres::test::server;
using postgres::test::server_address;
using postgres::test::Session;
using Keys = std::vector<std::string>;

std::unique_ptr<EventSource> make_source(const std::string& table, std::string node = "node-a") {
  return make_outbox_cursor_source(
      {.name = "orders", .address = server_address(), .table = table, .node = std::move(node)});
}

std::string field(const SourceRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.fields, name, &SourceField::name);
  return found == record.fields.end() ? "" : found->value;
}

/// Writes a row in the transaction of the session. The key is the row's resource.
void write(Session& session, const std::string& table, const std::string& key) {
  session.run(fmt::format("INSERT INTO {} (type, data, resource_id) VALUES ('a.b', '1', '{}')",
                          table, key));
}

class OutboxBench final : public SourceBench {
 public:
  void add(const std::vector<std::string>& keys) override {
    Session session;
    for (const std::string& key : keys) {
      write(session, table_, key);
    }
  }
  std::unique_ptr<EventSource> make_source() override { return test::make_source(table_); }
  std::string key_of(const SourceRecord& record) override { return field(record, "resource_id"); }
  std::vector<KeptMessage> rejected() override {
    Session session;
    const postgres::TextRows rows =
        session.run("SELECT row->>'resource_id', reason FROM " + table_ + "_rejected");
    std::vector<KeptMessage> kept;
    for (int row = 0; row < rows.count(); ++row) {
      kept.push_back({std::string{rows.text(row, 0)}, std::string{rows.text(row, 1)}});
    }
    return kept;
  }
  void stop_server() override { server().command("stop"); }
  void start_server() override { server().command("start"); }

 private:
  std::string table_ = make_outbox();
};

POSTRIDER_SOURCE_CONTRACT(Outbox, SourceBenchFactory{
                                      "cursor", [] { return std::make_unique<OutboxBench>(); }});

class OutboxCursorSource : public testing::Test {
 protected:
  void connect() {
    source_ = nullptr;
    source_ = make_source(table_);
    const Result<void> connected = source_->connect();
    ASSERT_TRUE(connected.has_value()) << connected.error().message;
  }

  std::vector<SourceRecord> receive(EventSource& source, std::size_t records_max = 500) {
    Result<std::vector<SourceRecord>> records =
        source.receive({.records_max = records_max, .wait_max = Millis{0}});
    EXPECT_TRUE(records.has_value()) << records.error().message;
    return records.value_or(std::vector<SourceRecord>{});
  }

  static Result<void> settle(EventSource& source, const std::vector<SourceRecord>& records) {
    std::vector<SettledRecord> settled;
    for (const SourceRecord& record : records) {
      settled.push_back({record.receipt, RecordStored{}});
    }
    return source.settle(settled);
  }

  /// Receives and stores until nothing is left.
  Keys drain(std::size_t records_max = 500) {
    Keys keys;
    while (true) {
      const std::vector<SourceRecord> records = receive(*source_, records_max);
      if (records.empty()) {
        return keys;
      }
      for (const SourceRecord& record : records) {
        keys.push_back(field(record, "resource_id"));
      }
      const Result<void> known = settle(*source_, records);
      EXPECT_TRUE(known.has_value()) << known.error().message;
    }
  }

  std::string table_ = make_outbox();
  Session session_;
  std::unique_ptr<EventSource> source_;
};

TEST_F(OutboxCursorSource, ATransactionThatCommitsLateDelaysOnlyItself) {
  connect();
  Session late;
  late.run("BEGIN");
  write(late, table_, "late");
  write(session_, table_, "a");
  EXPECT_EQ(drain(), (Keys{"a"}));
  write(session_, table_, "b");
  EXPECT_EQ(drain(), (Keys{"b"}));
  connect();
  EXPECT_EQ(drain(), Keys{});
  late.run("COMMIT");
  EXPECT_EQ(drain(), (Keys{"late"}));
  connect();
  EXPECT_EQ(drain(), Keys{});
}

TEST_F(OutboxCursorSource, WhatIsRolledBackIsNotRead) {
  connect();
  Session writer;
  writer.run("BEGIN");
  write(writer, table_, "undone");
  EXPECT_EQ(drain(), Keys{});
  writer.run("ROLLBACK");
  writer.run("BEGIN");
  write(writer, table_, "a");
  writer.run("SAVEPOINT one");
  write(writer, table_, "b");
  writer.run("SAVEPOINT two");
  write(writer, table_, "undone");
  writer.run("ROLLBACK TO two");
  write(writer, table_, "c");
  write(session_, table_, "other");
  EXPECT_EQ(drain(), Keys{"other"});
  writer.run("COMMIT");
  EXPECT_EQ(drain(), (Keys{"a", "b", "c"}));
}

TEST_F(OutboxCursorSource, AStepWithManyRowsIsReadInPagesAcrossARestart) {
  Session late;
  late.run("BEGIN");
  write(late, table_, "late");
  connect();
  session_.run(
      fmt::format("INSERT INTO {} (data, resource_id) SELECT '1', n FROM "
                  "generate_series(1, 1050) n",
                  table_));
  Keys expected;
  for (int n = 1; n <= 1050; ++n) {
    expected.push_back(std::to_string(n));
  }
  Keys keys;
  for (int page = 0; page < 4; ++page) {
    const std::vector<SourceRecord> records = receive(*source_, 100);
    ASSERT_EQ(records.size(), 100u);
    for (const SourceRecord& record : records) {
      keys.push_back(field(record, "resource_id"));
    }
    ASSERT_TRUE(settle(*source_, records).has_value());
  }
  EXPECT_EQ(source_->lag()->messages, 650u);
  // Rows that are written meanwhile belong to a later step, whatever their position.
  write(session_, table_, "behind");
  late.run("COMMIT");
  EXPECT_EQ(receive(*source_, 100).size(), 100u);
  connect();
  std::ranges::copy(drain(100), std::back_inserter(keys));
  expected.insert(expected.end(), {"late", "behind"});
  EXPECT_EQ(keys, expected);
  EXPECT_EQ(source_->lag()->messages, 0u);
}

TEST_F(OutboxCursorSource, APageOfAStepLooksAtABoundedNumberOfPositions) {
  connect();
  session_.run("BEGIN");
  Keys expected;
  for (int part = 0; part < 4; ++part) {
    session_.run(
        fmt::format("ALTER TABLE {0} ALTER position RESTART WITH {1};"
                    "INSERT INTO {0} (data, resource_id) SELECT '1', {1} + n FROM "
                    "generate_series(0, 9) n",
                    table_, 1 + part * 350'000));
    for (int n = 0; n < 10; ++n) {
      expected.push_back(std::to_string(1 + part * 350'000 + n));
    }
  }
  session_.run("COMMIT");
  Keys keys;
  for (int round = 0; round < 100 && keys.size() < expected.size(); ++round) {
    std::ranges::copy(drain(4), std::back_inserter(keys));
  }
  EXPECT_EQ(keys, expected);
  EXPECT_EQ(source_->lag()->messages, 0u);
}

/// Sessions write in a random order, some roll back, some stay open for long.
TEST_F(OutboxCursorSource, EveryCommittedRowIsReadOnceAndInOrderPerAggregate) {
  SplitMix64 random{2'026};
  connect();
  session_.run("CREATE TABLE aggregate_" + table_ +
               " AS SELECT n AS id, 0 AS version FROM "
               "generate_series(0, 3) n");
  struct Writer {
    Session session;
    bool is_open = false;
    std::map<std::uint64_t, int> versions;  // Of the aggregates that it has changed.
  };
  std::vector<Writer> writers(5);
  std::map<std::uint64_t, std::size_t> owners;  // Whose transaction has locked an aggregate.
  std::map<std::uint64_t, int> committed;       // The version of an aggregate.
  std::map<std::string, int> read;
  std::size_t count = 0;
  const auto check = [&](const Keys& keys) {
    for (const std::string& key : keys) {
      const std::size_t colon = key.find(':');
      const std::string aggregate = key.substr(0, colon);
      EXPECT_EQ(std::stoi(key.substr(colon + 1)), ++read[aggregate]) << key;
    }
    count += keys.size();
  };
  for (int turn = 0; turn < 600; ++turn) {
    const std::size_t index = random.below(writers.size());
    Writer& writer = writers[index];
    const std::uint64_t action = random.below(10);
    if (action < 6) {
      const std::uint64_t aggregate = random.below(4);
      if (owners.contains(aggregate) && owners[aggregate] != index) {
        continue;  // It would wait for the owner's transaction.
      }
      if (!writer.is_open) {
        writer.session.run("BEGIN; SELECT pg_current_xact_id()");
        writer.is_open = true;
      }
      owners[aggregate] = index;
      int& version = writer.versions.try_emplace(aggregate, committed[aggregate]).first->second;
      write(writer.session, table_, fmt::format("{}:{}", aggregate, ++version));
    } else if (action < 8 && writer.is_open) {
      const bool commits = random.below(3) > 0;
      writer.session.run(commits ? "COMMIT" : "ROLLBACK");
      writer.is_open = false;
      for (const auto& [aggregate, version] : writer.versions) {
        owners.erase(aggregate);
        committed[aggregate] = commits ? version : committed[aggregate];
      }
      writer.versions.clear();
    } else if (action == 8) {
      check(drain(1 + random.below(4)));
    } else if (random.below(10) == 0) {
      connect();
    }
  }
  for (Writer& writer : writers) {
    writer.session.run("ROLLBACK");
  }
  check(drain());
  std::size_t expected = 0;
  for (const auto& [aggregate, version] : committed) {
    expected += static_cast<std::size_t>(version);
  }
  EXPECT_EQ(count, expected);
  EXPECT_GT(expected, 50u);
}

TEST_F(OutboxCursorSource, ARowIsReadWithAllItsColumns) {
  connect();
  session_.run(fmt::format(
      "SET TimeZone = 'Asia/Tokyo'; INSERT INTO {} (id, type, data, tenant_id, metadata, "
      "created_at) VALUES ('772b81c5-e559-442a-8923-8f5f64c77bdc', 'a.b', '{{\"b\" :  1e2}}', "
      "'t', '{{}}', '2026-01-31T23:59:59.1239Z')",
      table_));
  const std::vector<SourceRecord> records = receive(*source_);
  ASSERT_EQ(records.size(), 1u);
  const std::vector<SourceField> expected = {{"id", "772b81c5-e559-442a-8923-8f5f64c77bdc"},
                                             {"type", "a.b"},
                                             {"data", "{\"b\" :  1e2}", true},
                                             {"tenant_id", "t"},
                                             {"metadata", "{}", true},
                                             {"created_at", "2026-01-31T23:59:59.123Z"}};
  EXPECT_EQ(records.front().fields, expected);
}

TEST_F(OutboxCursorSource, LargeRowsMakeSmallBatches) {
  connect();
  session_.run(
      fmt::format("INSERT INTO {} (data, resource_id) SELECT to_json(repeat('x', "
                  "7000000)), n FROM generate_series(1, 5) n",
                  table_));
  std::vector<SourceRecord> records = receive(*source_);
  EXPECT_EQ(records.size(), 3u);
  ASSERT_TRUE(settle(*source_, records).has_value());
  connect();
  EXPECT_EQ(drain(), (Keys{"4", "5"}));
}

TEST_F(OutboxCursorSource, OneNodeReadsAtATime) {
  connect();
  const std::unique_ptr<EventSource> other = make_source(table_, "node-b");
  ASSERT_TRUE(other->connect().has_value());
  EXPECT_FALSE(source_->is_standby());
  EXPECT_TRUE(other->is_standby());
  write(session_, table_, "a");
  EXPECT_TRUE(receive(*other).empty());
  EXPECT_TRUE(other->lag().has_value());
  EXPECT_EQ(drain(), Keys{"a"});

  write(session_, table_, "b");
  source_ = nullptr;  // A clean stop gives the lease back.
  EXPECT_EQ(receive(*other).size(), 1u);
  EXPECT_FALSE(other->is_standby());
}

TEST_F(OutboxCursorSource, TwoSourcesOfOneNodeDoNotShareTheLease) {
  connect();
  const std::unique_ptr<EventSource> other = make_outbox_cursor_source(
      {.name = "again", .address = server_address(), .table = table_, .node = "node-a"});
  ASSERT_TRUE(other->connect().has_value());
  EXPECT_TRUE(other->is_standby());
  EXPECT_EQ(drain(), Keys{});
  EXPECT_FALSE(source_->is_standby());
}

TEST_F(OutboxCursorSource, ANodeThatLostItsLeaseCannotMoveTheCursor) {
  connect();
  write(session_, table_, "a");
  const std::vector<SourceRecord> first = receive(*source_);
  ASSERT_EQ(first.size(), 1u);
  const std::unique_ptr<EventSource> other = make_source(table_, "node-b");
  ASSERT_TRUE(other->connect().has_value());
  session_.run(fmt::format("UPDATE {}_cursor SET lease_until = now() - interval '1 s'", table_));
  const std::vector<SourceRecord> second = receive(*other);
  ASSERT_EQ(second.size(), 1u);

  const std::string before = session_.value("SELECT finished FROM " + table_ + "_cursor");
  const Result<void> lost = settle(*source_, first);
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Errc::unavailable);
  EXPECT_TRUE(source_->is_standby());
  EXPECT_EQ(session_.value("SELECT finished FROM " + table_ + "_cursor"), before);
  ASSERT_TRUE(settle(*other, second).has_value());
  EXPECT_NE(session_.value("SELECT finished FROM " + table_ + "_cursor"), before);
  EXPECT_EQ(drain(), Keys{});
  EXPECT_TRUE(source_->is_standby());
}

TEST_F(OutboxCursorSource, AnExpiredLeaseThatNobodyTookIsRenewed) {
  connect();
  write(session_, table_, "a");
  session_.run(fmt::format("UPDATE {}_cursor SET lease_until = now() - interval '1 s'", table_));
  EXPECT_EQ(drain(), Keys{"a"});
  EXPECT_EQ(session_.value(fmt::format("SELECT lease_until > now() FROM {}_cursor", table_)), "t");
}

TEST_F(OutboxCursorSource, ABucketThatIsReadIsEmptiedWithoutDeletingRows) {
  connect();
  Session late;
  late.run("BEGIN");
  write(late, table_, "late");
  write(session_, table_, "a");
  EXPECT_EQ(drain(), Keys{"a"});
  const std::string age =
      fmt::format("UPDATE {}_bucket SET since = now() - interval '1 hour'", table_);
  session_.run(age);
  connect();
  EXPECT_EQ(drain(), Keys{});  // The open transaction holds the bucket.
  EXPECT_EQ(session_.value(fmt::format("SELECT bucket FROM {}_bucket", table_)), "1");
  EXPECT_EQ(session_.value(fmt::format("SELECT count(*) FROM {}_0", table_)), "1");
  write(session_, table_, "b");
  late.run("COMMIT");
  // `late` is not read yet, so the bucket stays.
  connect();
  const std::vector<SourceRecord> records = receive(*source_);
  EXPECT_EQ(session_.value(fmt::format("SELECT count(*) FROM {}_0", table_)), "2");
  ASSERT_TRUE(settle(*source_, records).has_value());
  connect();
  EXPECT_EQ(drain(), Keys{});
  EXPECT_EQ(session_.value(fmt::format("SELECT count(*) FROM {}_0", table_)), "0");
  EXPECT_EQ(session_.value(fmt::format("SELECT count(*) FROM {}_1", table_)), "1");
}

TEST_F(OutboxCursorSource, ACursorOfAnotherClusterIsNotFollowed) {
  connect();
  write(session_, table_, "read");
  EXPECT_EQ(drain(), Keys{"read"});
  write(session_, table_, "unread");
  // What a dump looks like that is restored into a cluster with fewer transactions.
  session_.run(fmt::format(
      "UPDATE {0} SET txid = (txid::text::bigint + 1000000)::text::xid8;"
      "UPDATE {0}_cursor SET finished = format('%s:%s:', 1000000 + pg_snapshot_xmin(finished)"
      "::text::bigint, 1000000 + pg_snapshot_xmax(finished)::text::bigint)::pg_snapshot",
      table_));
  const std::unique_ptr<EventSource> restarted = make_source(table_);
  const Result<void> connected = restarted->connect();
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Errc::unavailable);
  EXPECT_NE(connected.error().message.find("Run `SELECT " + table_ + "_adopt()` once."),
            std::string::npos)
      << connected.error().message;
  EXPECT_EQ(session_.value(fmt::format("SELECT {}_adopt()", table_)), "1");
  connect();
  EXPECT_EQ(drain(), Keys{"unread"});
  EXPECT_EQ(session_.value(fmt::format("SELECT {}_adopt(again => true)", table_)), "2");
  connect();
  EXPECT_EQ(drain(), (Keys{"read", "unread"}));

  session_.run(fmt::format("UPDATE {}_cursor SET cluster = 'other'", table_));
  EXPECT_FALSE(restarted->connect().has_value());
  EXPECT_EQ(session_.value(fmt::format("SELECT {}_adopt()", table_)), "0");
  EXPECT_TRUE(restarted->connect().has_value());
}

TEST_F(OutboxCursorSource, ARowFromTheFutureIsReported) {
  connect();
  session_.run(fmt::format("INSERT INTO {} (data, txid) VALUES ('1', '999999999')", table_));
  const auto records = source_->receive({.records_max = 10, .wait_max = Millis{0}});
  ASSERT_FALSE(records.has_value());
  EXPECT_NE(records.error().message.find("another database cluster"), std::string::npos);
  session_.run(fmt::format(
      "INSERT INTO {} (data, txid) SELECT '1', '999999999' FROM generate_series(1, 50)", table_));
  EXPECT_FALSE(source_->receive({.records_max = 10, .wait_max = Millis{0}}).has_value());
}

TEST_F(OutboxCursorSource, WritersNotifyOnlyAReaderThatSleeps) {
  connect();
  const std::string oid = session_.value("SELECT '" + table_ + "'::regclass::oid");
  session_.run("LISTEN \"postrider_" + oid + "\"");
  Session writer;
  write(writer, table_, "a");
  EXPECT_EQ(session_.connection().wait_for_notification(Millis{0}), false);
  Session sleeper;
  sleeper.run("SELECT pg_advisory_lock(1886548850, " + oid + ")");
  write(writer, table_, "b");
  EXPECT_EQ(session_.connection().wait_for_notification(Millis{30'000}), true);
  EXPECT_EQ(writer.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "1");
}

TEST_F(OutboxCursorSource, ACursorThatWasRemovedIsReported) {
  session_.run(fmt::format("DELETE FROM {}_cursor", table_));
  const Result<void> connected = make_source(table_)->connect();
  ASSERT_FALSE(connected.has_value());
  EXPECT_NE(connected.error().message.find("INSERT INTO"), std::string::npos);
}

/// On a table without statistics, which the planner must not guess about.
TEST_F(OutboxCursorSource, EveryReadUsesTheIndexThatItIsWrittenFor) {
  session_.run(
      fmt::format("INSERT INTO {} (data) SELECT '1' FROM generate_series(1, 3000)", table_));
  const Result<postgres::OutboxTable> table =
      postgres::inspect_outbox(session_.connection(), {"", table_});
  ASSERT_TRUE(table.has_value());
  const postgres::Snapshot finished{.xmin = 5, .xmax = 9, .xip = {5, 7}};
  const postgres::ReadPosition position{
      .finished = finished,
      .open = postgres::OpenStep{.snapshot = {}, .after = 10, .until = 2'000}};
  const auto plan = [&](const std::string& script) {
    const std::size_t end = script.find(";\n") + 2;
    const postgres::TextRows rows =
        session_.run(script.substr(0, end) + "EXPLAIN " + script.substr(end));
    std::string text;
    for (int row = 0; row < rows.count(); ++row) {
      text += std::string{rows.text(row, 0)} + "\n";
    }
    return text;
  };
  for (const std::string& script :
       {postgres::next_step(*table, finished, 500), postgres::step_bounds(*table, finished),
        postgres::count_unread(*table, finished)}) {
    const std::string text = plan(script);
    EXPECT_EQ(text.find("Seq Scan on " + table_ + "_0"), std::string::npos) << text;
    EXPECT_NE(text.find("_0_txid_position_idx"), std::string::npos) << text;
  }
  const std::string page = plan(postgres::next_page(*table, position, 2'000, 500));
  EXPECT_EQ(page.find("Seq Scan on " + table_ + "_0"), std::string::npos) << page;
  EXPECT_NE(page.find("Index Scan using " + table_ + "_0_pkey"), std::string::npos) << page;
  EXPECT_NE(page.find("Merge Append"), std::string::npos) << page;
}

}  // namespace
}  // namespace postrider::test
