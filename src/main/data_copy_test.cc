// Copies of data directories in real databases. What the API shows of a copy is tested by
// tests/e2e/test_copy.py.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/shard_number.h"

#include "adapters/openssl/digest.h"
#include "adapters/postgres/store/copy/copy_target.h"
#include "adapters/postgres/store/postgres_store.h"
#include "adapters/sqlite/copy/copied_rows.h"
#include "adapters/sqlite/copy/copy_source.h"
#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "runtime/store/copy_store.h"

#include "tests/support/open_sqlite.h"
#include "tests/support/postgres_schema.h"

namespace postrider::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Names = std::set<std::string>;

constexpr WallTime now = wall_from_unix_ms(1'760'000'000'000);

// Events and deliveries of two types; every tenth delivery waits. Each settled one has an attempt.
constexpr std::string_view fill_sql = R"sql(
  INSERT INTO tenant (tenant, name) VALUES (1, 'acme'), (2, 'globex');
  INSERT INTO event_type (type, name) VALUES (1, 'a.b'), (2, 'c.d');
  INSERT INTO lane (lane, webhook_id, tenant, ordered, last_delivery, last_attempt_delivery,
                    last_attempt_number, last_success_at, tally_span, tally_tenant, tally)
  VALUES (1, CAST('webhook-00000001' AS BLOB), 1, 1, {rows}, {rows}, 1, 5000000, 16, 1, x'0102');
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
  INSERT INTO event (sequence, id, tenant, type, priority, timestamp, created_at, delivery_count,
                     idempotency_key, metadata, data, trace)
  SELECT i, CAST(printf('event%011d', i) AS BLOB), 1 + i % 2, 1 + i % 2, i % 3, i, i, 1, 'k' || i,
         CAST(x'00ff01' AS TEXT), '{{"n": "' || char(233, 128512) || i || '"}}',
         iif(i % 2, x'00', NULL) FROM n;
  INSERT INTO delivery (sequence, id, event, lane, previous, ordered, tenant, type, priority, state,
                        trigger, due, attempt_count, budget_used, created_at, updated_at,
                        completed_at, last_http_status)
  SELECT sequence, CAST(printf('deliv%011d', sequence) AS BLOB), sequence, 1, sequence - 1, 1,
         tenant, type, priority, iif(sequence % 10, 2, 0), 0, sequence, 1, 1, sequence, sequence,
         iif(sequence % 10, sequence, NULL), 200 FROM event;
  INSERT INTO attempt (delivery, number, previous_delivery, previous_number, id, executed_at,
                       duration_us, trigger, scheduled_at, detail)
  SELECT sequence, 1, sequence - 1, iif(sequence > 1, 1, 0),
         CAST(printf('attem%011d', sequence) AS BLOB), sequence, 1, 0, 0, x'00' FROM delivery;
  INSERT INTO claim (event, tenant, key, body_digest, expires_at)
  VALUES (1, 1, 'k1', x'01', 9), (999999, 1, 'of a removed event', x'01', 9);
  INSERT INTO fanout_list (list, part, webhooks) VALUES (5, 0, CAST('webhook-00000001' AS BLOB));
  INSERT INTO fanout (event, tenant, list, place, remaining, due, chosen)
  VALUES (2, 2, 5, 0, 1, 7, x'01');
  INSERT INTO source_row (source, row_id, event, generation, revision, settled)
  VALUES ('orders', '77', 3, 0, 1, 0);
  INSERT INTO tenant_stats (span, tenant, tally) VALUES (15, 2, x'03');
  INSERT INTO webhook_stats (span, lane, tenant, tally) VALUES (16, 1, 1, x'04'), (15, 1, 2, x'05');
  INSERT INTO alert (sequence, id, kind, raised_at, detail, measured)
  VALUES (41, CAST('alert-0000000001' AS BLOB), 0, 1, '', 0.1);
)sql";

std::string shortened(const std::string& text) { return text.substr(0, 2'000); }

/// Fails after some rows, as a killed process does.
class InterruptedSource final : public CopySource {
 public:
  InterruptedSource(CopySource& source, std::uint64_t rows) : source_(source), rows_(rows) {}

  [[nodiscard]] const CopyOrigin& origin() const override { return source_.origin(); }
  Result<std::uint64_t> count(std::string_view table) override { return source_.count(table); }
  Result<void> read(const Read& what, const TakeCopyRow& take) override {
    return source_.read(what, [&](const CopyRow& row) -> Result<void> {
      if (rows_ == 0) {
        return fail(Errc::unavailable, "interrupted");
      }
      --rows_;
      return take(row);
    });
  }

 private:
  CopySource& source_;
  std::uint64_t rows_;
};

class DataCopy : public testing::Test {
 protected:
  DataCopy() { directory_.close(); }

  void change_source(const std::string& sql) {
    auto database = sqlite::Database::open({.file = file()});
    ASSERT_TRUE(database.has_value());
    const Result<void> done = database->execute(sql);
    ASSERT_TRUE(done.has_value()) << done.error().message << shortened(sql);
  }
  void fill(int rows) { change_source(fmt::format(fill_sql, fmt::arg("rows", rows))); }

  [[nodiscard]] std::filesystem::path file() const {
    return sqlite::database_file(directory_.options().directory);
  }
  [[nodiscard]] PostgresOptions target_options() const {
    return {.connect = {.address = schema_.address(), .ca_file = {}}, .digest = sha256, .now = now};
  }

  struct Wish {
    bool only_verify = false;
    std::optional<std::uint64_t> rows_max = std::nullopt;
  };
  Result<CopyReport> copy() { return copy({.only_verify = false}); }
  Result<CopyReport> copy(const Wish& wish) {
    POSTRIDER_TRY(const std::unique_ptr<CopySource> source,
                  open_sqlite_copy_source(directory_.options()));
    POSTRIDER_TRY(const std::unique_ptr<CopyTarget> target,
                  open_postgres_copy_target(target_options()));
    InterruptedSource interrupted{*source, wish.rows_max.value_or(0)};
    return copy_store({.source = wish.rows_max ? &interrupted : source.get(),
                       .target = target.get(),
                       .digest = sha256,
                       .only_verify = wish.only_verify,
                       .progress = [](const CopyProgress&) {}});
  }
  void expect_copied() {
    const Result<CopyReport> report = copy();
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->tables.size(), copied_tables.size());
  }
  std::string error_of(const Result<CopyReport>& report) {
    EXPECT_FALSE(report.has_value());
    return report ? "" : report.error().message;
  }

  /// The first column of all rows.
  std::vector<std::string> ask(const std::string& sql) {
    static const postgres::Interruption never;
    std::vector<std::string> found;
    auto connection =
        postgres::Connection::open({.address = schema_.address(), .ca_file = {}}, never);
    EXPECT_TRUE(connection.has_value());
    const auto rows = connection->execute(sql);
    EXPECT_TRUE(rows.has_value()) << sql << ": " << rows.error().message;
    for (int row = 0; rows && row < rows->count(); ++row) {
      found.emplace_back(rows->text(row, 0));
    }
    return found;
  }
  Names names(const std::string& sql) {
    const std::vector<std::string> found = ask(sql);
    return {found.begin(), found.end()};
  }
  Names source_names(const std::string& sql) {
    auto database = sqlite::Database::open({.file = file()});
    EXPECT_TRUE(database.has_value());
    auto statement = database->prepare(sql);
    EXPECT_TRUE(statement.has_value());
    Names found;
    sqlite::Query query = statement->query();
    while (query.next().value_or(false)) {
      found.insert(query.text(0));
    }
    return found;
  }
  Names target_columns(const std::string& table) {
    return names(fmt::format(
        "SELECT attname FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0", table));
  }
  Names source_columns(const std::string& table) {
    return source_names(fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  }

  OpenSqlite directory_;
  PostgresSchema schema_;
};

Names without(const Names& some, const Names& others) {
  Names rest;
  std::ranges::set_difference(some, others, std::inserter(rest, rest.end()));
  return rest;
}

// A migration that adds a table must say what a copy does with it: copied_tables in
// ports/store_copy.h, tables_without_copy in adapters/sqlite/copy/copied_rows.cc and
// tables_not_copied in adapters/postgres/store/copy/copy_target.cc.
TEST_F(DataCopy, EveryTableOfBothStoresIsCopiedOrNamedAsNotCopied) {
  expect_copied();
  Names copied{copied_tables.begin(), copied_tables.end()};

  Names target = copied;
  target.insert(postgres::tables_not_copied().begin(), postgres::tables_not_copied().end());
  EXPECT_EQ(target, names("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND"
                          " NOT relispartition AND relnamespace = current_schema()::regnamespace"));

  Names source = copied;
  source.erase("waiting");  // Part of the table delivery.
  source.insert(sqlite::tables_without_copy().begin(), sqlite::tables_without_copy().end());
  EXPECT_EQ(source, source_names("SELECT name FROM sqlite_schema WHERE type = 'table'"));
}

// A column that only the copy has fails the copy of every store. One that only the data directory
// has must be here.
TEST_F(DataCopy, EveryColumnOfTheDataDirectoryIsCopiedOrConverted) {
  expect_copied();
  const std::map<std::string, Names> converted = {
      {"event", {"tenant", "type"}},
      {"delivery", {"event", "lane", "previous", "ordered", "tenant", "type"}},
      {"attempt", {"delivery", "previous_delivery", "previous_number"}},
      {"claim", {"event", "tenant"}},
      {"fanout", {"tenant"}},
      {"tenant_stats", {"tenant"}},
      {"webhook_stats", {"lane", "tenant"}}};
  for (const std::string_view name : copied_tables) {
    const std::string table{name};
    if (table == "waiting") {
      continue;
    }
    const auto known = converted.find(table);
    Names expected = known == converted.end() ? Names{} : known->second;
    expected.erase("type");  // The name of the type is in a column with the same name.
    EXPECT_EQ(without(source_columns(table), target_columns(table)), expected) << table;
  }
  EXPECT_EQ(source_columns("lane"),
            (Names{"lane", "webhook_id", "tenant", "ordered", "last_delivery",
                   "last_attempt_delivery", "last_attempt_number", "last_success_at",
                   "last_failure_at", "tally_span", "tally_tenant", "tally"}));
}

TEST_F(DataCopy, ConvertsNumbersToNamesAndIds) {
  fill(30);
  expect_copied();
  EXPECT_EQ(ask("SELECT count(*) FROM event WHERE tenant_id = 'globex' AND type = 'c.d'"),
            std::vector<std::string>{"15"});
  EXPECT_EQ(
      ask("SELECT string_agg(sequence || ' ' || shard, ', ' ORDER BY sequence) FROM waiting"
          " WHERE webhook_id = encode('webhook-00000001', 'hex')::uuid AND NOT ordered"),
      (std::vector<std::string>{fmt::format(
          "10 {0}, 20 {0}, 30 {0}", shard_of(WebhookId{{'w', 'e', 'b', 'h', 'o', 'o', 'k', '-', '0',
                                                        '0', '0', '0', '0', '0', '0', '1'}}))}));
  EXPECT_EQ(ask("SELECT count(*) FROM delivery"), std::vector<std::string>{"27"});
  EXPECT_EQ(ask("SELECT count(*) FROM attempt a JOIN delivery d ON d.id = a.delivery_id"
                " WHERE a.recorded = d.sequence AND a.tenant_id = d.tenant_id"),
            std::vector<std::string>{"27"});
  EXPECT_EQ(ask("SELECT key FROM claim"), std::vector<std::string>{"k1"});
  EXPECT_EQ(
      ask("SELECT concat_ws(' ', span, tenant_id, tally, last_success_at) FROM webhook_stats"
          " ORDER BY span, writer"),
      (std::vector<std::string>{"15 globex \\x05", "16 acme \\x04", "16 acme \\x0102 5000000"}));
  EXPECT_EQ(ask("SELECT tenant_id FROM tenant_stats"), std::vector<std::string>{"globex"});
  EXPECT_EQ(ask("SELECT e.sequence || f.tenant_id || f.list FROM fanout f JOIN event e"
                " ON e.id = f.event_id AND e.sequence = f.event"),
            std::vector<std::string>{"2globex5"});
  EXPECT_EQ(ask("SELECT e.sequence FROM source_row r JOIN event e ON e.id = r.event_id"),
            std::vector<std::string>{"3"});
  EXPECT_EQ(ask("INSERT INTO alert (id, kind, raised_at, detail)"
                " VALUES (gen_random_uuid(), 0, 1, '') RETURNING sequence"),
            std::vector<std::string>{"42"});
  EXPECT_EQ(ask("SELECT id FROM source_reader"),
            std::vector<std::string>(1, *source_names("SELECT id FROM source_reader").begin()));
  EXPECT_EQ(ask("SELECT nextval('sequence_block') * 1024 > 30"), std::vector<std::string>{"t"});
}

TEST_F(DataCopy, ContinuesWhereItWasInterrupted) {
  fill(10'000);
  const auto interrupt_after = [&](std::uint64_t rows) {
    EXPECT_THAT(error_of(copy({.rows_max = rows})), HasSubstr("interrupted"));
    const Result<Store> store = open_postgres_store(target_options());
    ASSERT_FALSE(store.has_value());
    EXPECT_THAT(store.error().message, HasSubstr("unfinished copy"));
  };
  for (const std::uint64_t rows : {0, 1, 6'000, 3}) {
    interrupt_after(rows);
  }
  EXPECT_EQ(ask("SELECT name FROM copy_progress WHERE rows = 4000 AND NOT complete"),
            std::vector<std::string>{"delivery"});
  interrupt_after(9'000);
  interrupt_after(9'000);
  EXPECT_THAT(error_of(copy({.only_verify = true})), HasSubstr("not complete"));
  expect_copied();
  EXPECT_TRUE(open_postgres_store(target_options()).has_value());
}

TEST_F(DataCopy, IsMadeOnce) {
  fill(10);
  expect_copied();
  const Result<CopyReport> again = copy();
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->was_finished);
  EXPECT_THAT(again->tables, IsEmpty());
  EXPECT_EQ(copy({.only_verify = true}).value().tables.size(), copied_tables.size());
}

// What the server has acknowledged since is nowhere else, so nobody is told to empty the database.
TEST_F(DataCopy, ThatAServerHasUsedIsNotComparedAnyMore) {
  fill(10);
  expect_copied();
  ASSERT_TRUE(copy({.only_verify = true}).has_value());
  for (int start = 0; start < 2; ++start) {
    ASSERT_TRUE(open_postgres_store(target_options()).has_value());
  }
  ask("UPDATE event SET data = data || ' ' WHERE sequence = 3");
  const Result<CopyReport> refused = copy({.only_verify = true});
  EXPECT_THAT(error_of(refused), AllOf(HasSubstr("A server has used the database"),
                                       Not(HasSubstr("Empty")), Not(HasSubstr("empty"))));
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_TRUE(copy().value().was_finished);
}

TEST_F(DataCopy, RefusesADatabaseThatAServerHasUsed) {
  ASSERT_TRUE(open_postgres_store(target_options()).has_value());
  ask("INSERT INTO registered_tenant (serial, id, metadata, created_at)"
      " VALUES (gen_random_uuid(), 'a', '', 0)");
  EXPECT_THAT(error_of(copy()), AllOf(HasSubstr("not empty"), HasSubstr("registered_tenant")));
}

TEST_F(DataCopy, RefusesACopyOfAnotherDataDirectory) {
  expect_copied();
  ask("UPDATE store_copy SET identity = 'another'");
  EXPECT_THAT(error_of(copy()), HasSubstr("another data directory"));
}

TEST_F(DataCopy, RefusesADataDirectoryThatHasChangedSinceItWasBegun) {
  fill(10);
  EXPECT_FALSE(copy({.rows_max = 5}).has_value());
  change_source("UPDATE store_state SET position = position + 1");
  EXPECT_THAT(error_of(copy()), HasSubstr("has changed"));
}

TEST_F(DataCopy, RefusesStoresThatAreInUse) {
  {
    directory_.reopen();
    EXPECT_THAT(error_of(copy()), HasSubstr("already used"));
    directory_.close();
  }
  PostgresOptions options = target_options();
  options.use = DatabaseUse::shared;
  const Result<Store> store = open_postgres_store(options);
  ASSERT_TRUE(store.has_value());
  EXPECT_THAT(error_of(copy()), HasSubstr("already used"));
}

TEST_F(DataCopy, FindsEveryDifference) {
  fill(10);
  expect_copied();
  ask("UPDATE event SET data = data || ' ' WHERE sequence = 3");
  EXPECT_THAT(error_of(copy({.only_verify = true})), HasSubstr("of the table event differ"));
  ask("UPDATE event SET data = rtrim(data)");
  ASSERT_TRUE(copy({.only_verify = true}).has_value());
  ask("UPDATE waiting SET last_http_status = NULL");
  ask("DELETE FROM claim");
  EXPECT_THAT(error_of(copy({.only_verify = true})),
              AllOf(HasSubstr("of the table waiting differ"),
                    HasSubstr("table claim has 0 rows instead of 1")));
}

TEST_F(DataCopy, IsNotFinishedIfItDiffers) {
  fill(10);
  EXPECT_FALSE(copy({.rows_max = 33}).has_value());  // Within the last table.
  ask("UPDATE event SET trace_state = 'x' WHERE sequence = 1");
  EXPECT_THAT(error_of(copy()), HasSubstr("of the table event differ"));
  EXPECT_EQ(ask("SELECT finished FROM store_copy"), std::vector<std::string>{"f"});
}

TEST_F(DataCopy, NamesTheColumnOfADamagedValue) {
  fill(10);
  change_source("UPDATE delivery SET id = x'01' WHERE sequence = 10");
  EXPECT_THAT(error_of(copy()), HasSubstr("the column id of the table waiting"));
}

}  // namespace
}  // namespace postrider::test
