#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/postgres/outbox_status.h"
#include "adapters/postgres/status_test_table.h"

#include "tests/contract/source_contract.h"

namespace postrider::test {
namespace {

using postgres::test::make_status_outbox;
using postgres::test::server;
using postgres::test::server_address;
using postgres::test::Session;
using Keys = std::vector<std::string>;

std::unique_ptr<EventSource> make_source(const std::string& table, std::string node = "node-a") {
  return make_outbox_status_source(
      {.name = "orders", .address = server_address(), .table = table, .node = std::move(node)});
}

std::string field(const SourceRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.fields, name, &SourceField::name);
  return found == record.fields.end() ? "" : found->value;
}

void write(Session& session, const std::string& table, const std::string& key) {
  session.run(
      fmt::format("INSERT INTO {} (event_type, payload, resource_id) VALUES ('a.b', '1',"
                  " '{}')",
                  table, key));
}

class StatusBench final : public SourceBench {
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
        session.run("SELECT resource_id, last_error FROM " + table_ + " WHERE status = 'failed'");
    std::vector<KeptMessage> kept;
    for (int row = 0; row < rows.count(); ++row) {
      kept.push_back({std::string{rows.text(row, 0)}, std::string{rows.text(row, 1)}});
    }
    return kept;
  }
  void stop_server() override { server().command("stop"); }
  void start_server() override { server().command("start"); }

 private:
  std::string table_ = make_status_outbox();
};

POSTRIDER_SOURCE_CONTRACT(OutboxStatus, SourceBenchFactory{"status", [] {
                                                             return std::make_unique<StatusBench>();
                                                           }});

class OutboxStatusSource : public testing::Test {
 protected:
  std::unique_ptr<EventSource> connected(const std::string& node) {
    std::unique_ptr<EventSource> source = make_source(table_, node);
    const Result<void> done = source->connect();
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return source;
  }

  static std::vector<SourceRecord> receive(EventSource& source, std::size_t records_max = 500) {
    Result<std::vector<SourceRecord>> records =
        source.receive({.records_max = records_max, .wait_max = Millis{0}});
    EXPECT_TRUE(records.has_value()) << records.error().message;
    return records.value_or(std::vector<SourceRecord>{});
  }

  static Keys keys_of(const std::vector<SourceRecord>& records) {
    Keys keys;
    for (const SourceRecord& record : records) {
      keys.push_back(field(record, "resource_id"));
    }
    return keys;
  }

  static void settle(EventSource& source, const std::vector<SourceRecord>& records,
                     const RecordOutcome& outcome = RecordStored{}) {
    std::vector<SettledRecord> settled;
    for (const SourceRecord& record : records) {
      settled.push_back({record.receipt, outcome});
    }
    const Result<void> known = source.settle(settled);
    ASSERT_TRUE(known.has_value()) << known.error().message;
  }

  void update(const std::string& change, const std::string& where = "true") {
    session_.run(fmt::format("UPDATE {} SET {} WHERE {}", table_, change, where));
  }

  std::string table_ = make_status_outbox();
  Session session_;
};

TEST_F(OutboxStatusSource, ARowHasItsIdItsGenerationAndItsColumns) {
  const std::string id = "0190a1b2-0000-7000-8000-000000000001";
  session_.run(
      fmt::format("INSERT INTO {} (id, event_type, payload, tenant_id) VALUES ('{}',"
                  " 'order.paid', '{{ \"n\" : 1.50 }}', 'acme')",
                  table_, id));
  update("postrider_generation = 3");
  const auto source = connected("node-a");
  const std::vector<SourceRecord> records = receive(*source);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].receipt, id);
  ASSERT_TRUE(records[0].row.has_value());
  EXPECT_EQ(records[0].row->id, id);
  EXPECT_EQ(records[0].row->generation, 3u);
  EXPECT_FALSE(records[0].target.has_value());
  EXPECT_EQ(field(records[0], "id"), id);
  EXPECT_EQ(field(records[0], "event_type"), "order.paid");
  EXPECT_EQ(field(records[0], "payload"), "{ \"n\" : 1.50 }");
  EXPECT_EQ(field(records[0], "tenant_id"), "acme");
  for (const SourceField& each : records[0].fields) {
    EXPECT_EQ(each.is_json, each.name == "payload") << each.name;
    EXPECT_FALSE(each.name.starts_with("postrider_")) << each.name;
    EXPECT_NE(each.name, "status");
    EXPECT_NE(each.name, "secret");
  }
}

TEST_F(OutboxStatusSource, ARowCanNameItsReceiver) {
  write(session_, table_, "a");
  update("webhook_url = 'https://example.com/hook', secret = 's3cret'");
  const auto source = connected("node-a");
  const std::vector<SourceRecord> records = receive(*source);
  ASSERT_TRUE(records.at(0).target.has_value());
  EXPECT_EQ(records[0].target->url, "https://example.com/hook");
  EXPECT_EQ(records[0].target->secret->reveal(), "s3cret");
  settle(*source, records, RecordDeferred{});
  update("secret = NULL");
  const std::vector<SourceRecord> again = receive(*source);
  EXPECT_FALSE(again.at(0).target->secret.has_value());
}

TEST_F(OutboxStatusSource, OnlyRowsThatAreDueAreReceived) {
  const auto source = connected("node-a");
  for (const char* key : {"future", "done", "failed", "cancelled", "retrying"}) {
    write(session_, table_, key);
  }
  update("next_attempt_at = now() + interval '1 hour'", "resource_id = 'future'");
  update("status = 'delivered'", "resource_id = 'done'");
  update("status = resource_id", "resource_id IN ('failed', 'cancelled', 'retrying')");
  EXPECT_EQ(keys_of(receive(*source)), (Keys{"retrying"}));
  EXPECT_EQ(source->lag()->messages, 1u);
}

TEST_F(OutboxStatusSource, TwoNodesNeverReceiveTheSameRow) {
  for (const char* key : {"a", "b", "c"}) {
    write(session_, table_, key);
  }
  const auto first = connected("node-a");
  const auto second = connected("node-b");
  const std::vector<SourceRecord> of_first = receive(*first, 2);
  const std::vector<SourceRecord> of_second = receive(*second);
  EXPECT_EQ(keys_of(of_first), (Keys{"a", "b"}));
  EXPECT_EQ(keys_of(of_second), (Keys{"c"}));
  settle(*first, of_first);
  settle(*second, of_second);
  EXPECT_TRUE(receive(*first).empty());
  EXPECT_TRUE(receive(*second).empty());
}

TEST_F(OutboxStatusSource, ANodeThatDiedGetsItsRowsBackAndOthersOnlyWhenTheClaimHasExpired) {
  write(session_, table_, "a");
  const auto second = connected("node-b");
  {
    const auto first = connected("node-a");
    EXPECT_EQ(keys_of(receive(*first)), (Keys{"a"}));
  }
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(receive(*second).empty());
  }
  const auto restarted = connected("node-a");
  std::vector<SourceRecord> again;
  for (int look = 0; look < 1'000 && again.empty(); ++look) {
    again = receive(*restarted);  // The lock of the process that died may last for a moment.
  }
  EXPECT_EQ(keys_of(again), (Keys{"a"}));
  settle(*restarted, again, RecordDeferred{});
  EXPECT_TRUE(receive(*second).empty());
  update("postrider_claimed_until = now() - interval '1 s'");
  EXPECT_EQ(keys_of(receive(*second)), (Keys{"a"}));
}

TEST_F(OutboxStatusSource, AClaimThatHasExpiredIsKeptByTheLockOfANodeThatHangs) {
  write(session_, table_, "a");
  const auto first = connected("node-a");
  const std::vector<SourceRecord> records = receive(*first);
  EXPECT_EQ(records.size(), 1u);
  Session impatient;
  impatient.run("SET lock_timeout = '100ms'");
  EXPECT_FALSE(impatient.connection()
                   .script(fmt::format("UPDATE {} SET postrider_claimed_until = NULL", table_))
                   .has_value());
  const auto second = connected("node-b");
  EXPECT_TRUE(receive(*second).empty());
}

TEST_F(OutboxStatusSource, AHandedOverRowThatIsSetToPendingIsNotReceivedAgain) {
  write(session_, table_, "a");
  const auto source = connected("node-a");
  settle(*source, receive(*source));
  update("status = 'pending', next_attempt_at = now()");
  EXPECT_TRUE(receive(*source).empty());
}

TEST_F(OutboxStatusSource, ARejectedRowCanBeArmedAgain) {
  write(session_, table_, "a");
  const auto source = connected("node-a");
  settle(*source, receive(*source), RecordRejected{"No."});
  EXPECT_EQ(session_.value("SELECT status || ' ' || last_error FROM " + table_), "failed No.");
  EXPECT_TRUE(receive(*source).empty());
  update("status = 'pending'");
  EXPECT_EQ(keys_of(receive(*source)), (Keys{"a"}));
}

TEST_F(OutboxStatusSource, ATableThatDoesNotFitIsRefusedWithTheCommandThatMakesIt) {
  const auto source = make_source("no_such_table");
  const Result<void> missing = source->connect();
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message,
            "The table no_such_table does not exist. Make it with `postrider outbox init --dsn "
            "ADDRESS --table no_such_table --mode status --apply`.");
  session_.run("CREATE TABLE plain_rows (id bigint PRIMARY KEY, payload json)");
  const Result<void> plain = make_source("plain_rows")->connect();
  ASSERT_FALSE(plain.has_value());
  EXPECT_NE(plain.error().message.find("it has no column `status`"), std::string::npos);
}

TEST_F(OutboxStatusSource, ATableOfTheApplicationIsExtended) {
  session_.run(
      "CREATE TYPE row_state AS ENUM ('pending', 'retrying', 'delivered', 'failed');"
      "CREATE TABLE own_rows (id bigserial PRIMARY KEY, payload jsonb, attempts smallint NOT NULL"
      " DEFAULT 0, next_attempt_at timestamp NOT NULL DEFAULT now(), status row_state NOT NULL"
      " DEFAULT 'pending');"
      "INSERT INTO own_rows (payload) VALUES ('{}')");
  const Result<void> applied =
      apply_outbox_ddl(server_address(), outbox_status_ddl("own_rows").value());
  ASSERT_TRUE(applied.has_value()) << applied.error().message;
  const auto source = make_source("own_rows");
  ASSERT_TRUE(source->connect().has_value());
  const std::vector<SourceRecord> records = receive(*source);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].receipt, "1");
  settle(*source, records);
  EXPECT_TRUE(receive(*source).empty());

  const auto sink = make_outbox_status_sink(
      {.name = "orders", .address = server_address(), .table = "own_rows", .node = "node-a"});
  ASSERT_TRUE(sink->connect().has_value());
  const RowStatus failed{.state = RowState::failed, .attempts = 5, .last_error = "No."};
  const auto outcomes = sink->write({{"1", 0, failed}});
  ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
  EXPECT_EQ(outcomes->at(0), RowWriteOutcome::written);
  EXPECT_EQ(session_.value("SELECT status || ' ' || attempts FROM own_rows"), "failed 5");
}

}  // namespace
}  // namespace postrider::test
