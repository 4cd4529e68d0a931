// Tests that need the file itself: API keys of the first schema, and a tampered audit log.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sql/admin/audit_reader.h"
#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/migrations.h"
#include "adapters/sqlite/database/sqlite_store.h"

#include "tests/support/open_sqlite.h"

namespace postrider::test {
namespace {

sqlite::Database open_raw(const std::filesystem::path& directory) {
  Result<sqlite::Database> database =
      sqlite::Database::open({.file = sqlite::database_file(directory)});
  EXPECT_TRUE(database.has_value());
  return *std::move(database);
}

void execute(const OpenSqlite& store, const std::string& sql) {
  const Result<void> done = open_raw(store.options().directory).execute(sql);
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

AuditEntry numbered(int number) {
  AuditEntry entry;
  entry.action = "webhook.update";
  entry.subject = "whk_" + std::to_string(number);
  return entry;
}

TEST(SqliteRegistry, MigrationKeepsKeysOfTheFirstSchema) {
  const TemporaryDirectory directory;
  {
    sqlite::Database database = open_raw(directory.path());
    const sqlite::Migration& first = sqlite::migrations().front();
    ASSERT_EQ(first.version, 1);
    ASSERT_TRUE(database.execute(first.sql).has_value());
    ASSERT_TRUE(database
                    .execute("INSERT INTO api_key VALUES (zeroblob(16), 'old', zeroblob(32),"
                             " 'admin', 1700000000000);"
                             " PRAGMA application_id = 1349735012; PRAGMA user_version = 1")
                    .has_value());
  }
  const Result<Store> store = open_sqlite_store({.directory = directory.path()});
  ASSERT_TRUE(store.has_value()) << store.error().message;
  const RegistryContents contents = store->registry->load().value();
  ASSERT_EQ(contents.keys.size(), 1u);
  EXPECT_EQ(contents.keys[0], (ApiKey{.id = {},
                                      .name = "old",
                                      .sha256 = std::string(32, '\0'),
                                      .created_at = wall_from_unix_ms(1'700'000'000'000)}));
}

TEST(SqliteRegistry, UnknownScopeIsCorrupt) {
  OpenSqlite store;
  execute(store,
          "INSERT INTO api_key (id, name, sha256, scope, created_at)"
          " VALUES (zeroblob(16), 'x', zeroblob(32), 'root', 0)");
  const Result<RegistryContents> contents = store.store().registry->load();
  ASSERT_FALSE(contents.has_value());
  EXPECT_EQ(contents.error().code, Errc::corrupt);
}

TEST(SqliteAuditReader, VerifyReportsTheFirstTamperedEntry) {
  const std::pair<std::string, std::int64_t> cases[] = {
      {"UPDATE audit_entry SET actor = 'someone' WHERE sequence = 3", 3},
      {"UPDATE audit_entry SET detail = '{\"a\":1}' WHERE sequence = 5", 5},
      {"UPDATE audit_entry SET at = at + 1 WHERE sequence = 1", 1},
      {"UPDATE audit_entry SET hash = zeroblob(32) WHERE sequence = 2", 2},
      {"DELETE FROM audit_entry WHERE sequence = 4", 4},
      {"DELETE FROM audit_entry WHERE sequence = 1", 1},
      {"UPDATE audit_entry SET sequence = 9 WHERE sequence = 5", 5}};
  for (const auto& [sql, broken_at] : cases) {
    OpenSqlite store;
    for (int number = 1; number <= 5; ++number) {
      ASSERT_TRUE(store.store().audit->append(numbered(number)).has_value());
    }
    EXPECT_EQ(store.reader().audit->verify(0, 100).value().checked, 5u);
    execute(store, sql);
    const ChainWalk walk = store.reader().audit->verify(0, 100).value();
    EXPECT_EQ(walk.broken_at, broken_at) << sql;
    EXPECT_EQ(walk.last, broken_at - 1) << sql;
  }
}

TEST(SqliteAuditReader, AFailedTransactionLeavesNoGap) {
  OpenSqlite store;
  const auto body = [&]() -> Result<void> {
    POSTRIDER_CHECK(store.store().audit->append(numbered(1)));
    return fail(Errc::conflict, "No.");
  };
  ASSERT_FALSE(store.store().atomically(body).has_value());
  ASSERT_TRUE(store.store().audit->append(numbered(2)).has_value());
  EXPECT_EQ(store.reader().audit->verify(0, 10).value().checked, 1u);
  EXPECT_EQ(store.reader().audit->list({}, {}).value().items.front().sequence, 1);
}

TEST(SqliteAuditReader, FiltersBySubjectAndTenantUseTheirIndex) {
  OpenSqlite store;
  sqlite::Database database = open_raw(store.options().directory);
  const auto plan = [&](const AuditFilter& filter) {
    const std::string sql =
        "EXPLAIN QUERY PLAN " + sql::select_audit(filter, {.before = 1'000}).sql();
    Result<sqlite::Statement> statement = database.prepare(sql);
    EXPECT_TRUE(statement.has_value()) << sql;
    std::string text;
    sqlite::Query query = statement->query();
    while (query.next().value_or(false)) {
      text += query.text(3) + "\n";
    }
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("TEMP B-TREE")));
    return text;
  };
  EXPECT_THAT(plan({.subject = "s"}), testing::HasSubstr("audit_entry_subject"));
  EXPECT_THAT(plan({.subject = "s", .tenant_id = "t"}), testing::HasSubstr("audit_entry_subject"));
  EXPECT_THAT(plan({.tenant_id = "t"}), testing::HasSubstr("audit_entry_tenant"));
  EXPECT_THAT(plan({.actor = "a"}), testing::HasSubstr("INTEGER PRIMARY KEY"));
}

}  // namespace
}  // namespace postrider::test
