#include "adapters/sqlite/database/sqlite_store.h"

#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/migrations.h"

#include "tests/contract/store_contract.h"
#include "tests/support/open_sqlite.h"

namespace postrider::test {

POSTRIDER_STORE_CONTRACT(Sqlite,
                         StoreFactory{"sqlite", [] { return std::make_unique<OpenSqlite>(); }});

namespace {

sqlite::Database open_raw(const std::filesystem::path& directory) {
  Result<sqlite::Database> database =
      sqlite::Database::open({.file = sqlite::database_file(directory)});
  EXPECT_TRUE(database.has_value());
  return *std::move(database);
}

std::int64_t number(sqlite::Database& database, std::string_view sql) {
  Result<sqlite::Statement> statement = database.prepare(sql);
  EXPECT_TRUE(statement.has_value());
  sqlite::Query query = statement->query();
  EXPECT_TRUE(query.next().value_or(false));
  return query.integer(0);
}

TEST(SqliteStore, CreatesADirectoryThatOnlyItsOwnerCanAccess) {
  const TemporaryDirectory parent;
  const auto directory = parent.path() / "new" / "data";
  ASSERT_TRUE(open_sqlite_store({.directory = directory}).has_value());
  struct stat status{};
  ASSERT_EQ(::stat(directory.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((directory / "postrider.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077, 0u);
}

TEST(SqliteStore, SecondServerIsRefusedWithThePidOfTheFirst) {
  const TemporaryDirectory directory;
  const SqliteOptions options{.directory = directory.path()};
  Result<Store> first = open_sqlite_store(options);
  ASSERT_TRUE(first.has_value());

  const Result<Store> second = open_sqlite_store(options);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::conflict);
  EXPECT_EQ(second.error().message, "The data directory " + directory.path().string() +
                                        " is already used by another postrider process (pid " +
                                        std::to_string(::getpid()) + ").");

  first->ledger.reset();
  EXPECT_FALSE(open_sqlite_store(options).has_value());  // The other roles still hold the lock.
  *first = {};
  EXPECT_TRUE(open_sqlite_store(options).has_value());
}

TEST(SqliteStore, UnusableDirectoryIsInvalid) {
  const TemporaryDirectory parent;
  const auto file = parent.path() / "file";
  std::ofstream{file} << "x";
  const Result<Store> inside_a_file = open_sqlite_store({.directory = file / "data"});
  ASSERT_FALSE(inside_a_file.has_value());
  EXPECT_EQ(inside_a_file.error().code, Errc::invalid);
  EXPECT_THAT(inside_a_file.error().message,
              testing::HasSubstr("Cannot create the data directory"));
  EXPECT_EQ(open_sqlite_store({.directory = file}).error().code, Errc::invalid);
}

TEST(SqliteStore, ReaderOfAMissingStoreFails) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(open_sqlite_reader({.directory = directory.path()}).has_value());
}

TEST(SqliteStore, DamagedFileIsCorrupt) {
  const TemporaryDirectory directory;
  std::ofstream{directory.path() / "postrider.db"} << std::string(8192, 'x');
  const Result<Store> store = open_sqlite_store({.directory = directory.path()});
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, Errc::corrupt);
}

TEST(SqliteStore, RefusesADatabaseOfAnotherApplication) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(open_raw(directory.path()).execute("CREATE TABLE t (x)").has_value());
  const Result<Store> store = open_sqlite_store({.directory = directory.path()});
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, Errc::invalid);
  EXPECT_EQ(store.error().message,
            "The file postrider.db in the data directory is not a Postrider database.");
}

TEST(SqliteStore, RefusesANewerSchema) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(open_sqlite_store({.directory = directory.path()}).has_value());
  ASSERT_TRUE(open_raw(directory.path()).execute("PRAGMA user_version = 999").has_value());
  const Result<Store> store = open_sqlite_store({.directory = directory.path()});
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code, Errc::invalid);
  EXPECT_THAT(store.error().message,
              testing::StartsWith("The data directory was written by a newer version of Postrider "
                                  "(schema 999; this version supports up to "));
}

TEST(SqliteStore, MigrationsAreNumberedWithoutGaps) {
  int expected = 1;
  for (const sqlite::Migration& migration : sqlite::migrations()) {
    EXPECT_EQ(migration.version, expected++);
  }
}

std::string text(sqlite::Database& database, std::string_view sql) {
  Result<sqlite::Statement> statement = database.prepare(sql);
  EXPECT_TRUE(statement.has_value());
  sqlite::Query query = statement->query();
  EXPECT_TRUE(query.next().value_or(false));
  return query.text(0);
}

TEST(SqliteStore, MigratesAStoreOfTheFirstVersion) {
  const Webhook webhook = sample_webhook(StoreScript::webhook(1));
  const TemporaryDirectory newest;
  ASSERT_TRUE(open_sqlite_store({.directory = newest.path()})->catalog->put_webhook(webhook));
  const TemporaryDirectory first;
  {
    sqlite::Database database = open_raw(first.path());
    ASSERT_TRUE(database.execute(sqlite::migrations().front().sql));
    ASSERT_TRUE(database.execute("PRAGMA application_id = 1349735012; PRAGMA user_version = 1"));
    const std::string columns =
        text(database, "SELECT group_concat(name) FROM pragma_table_info('webhook')");
    ASSERT_TRUE(database.execute("ATTACH '" + (newest.path() / "postrider.db").string() +
                                 "' AS newest; INSERT INTO webhook SELECT " + columns +
                                 " FROM newest.webhook"));
  }
  const Result<Store> store = open_sqlite_store({.directory = first.path()});
  ASSERT_TRUE(store.has_value()) << store.error().message;
  Webhook upgraded = webhook;  // Fields that the first schema did not have get defaults.
  upgraded.secret_set_at = webhook.created_at;
  upgraded.old_secrets.clear();
  upgraded.disabled_at = std::nullopt;
  EXPECT_EQ(*store->catalog->load_webhooks(), std::vector<Webhook>{upgraded});
  EXPECT_TRUE(store->event_types->load()->empty());
}

TEST(SqliteStore, OldAlertsGetTheNameAndTheUrlOfTheirWebhook) {
  const TemporaryDirectory directory;
  Webhook webhook = sample_webhook(StoreScript::webhook(1));
  webhook.name = "Orders";
  webhook.url = "https://example.com/hook?token=secret";
  Alert alert;
  alert.subject.webhook_id = webhook.id;
  {
    const Result<Store> store = open_sqlite_store({.directory = directory.path()});
    ASSERT_TRUE(store->catalog->put_webhook(webhook));
    ASSERT_TRUE(store->alerts->raise(alert));
  }
  sqlite::Database database = open_raw(directory.path());
  std::string update;  // The statement of the migration that adds the columns.
  for (const sqlite::Migration& migration : sqlite::migrations()) {
    const std::string sql{migration.sql};
    if (sql.find("UPDATE alert") != std::string::npos) {
      update = sql.substr(sql.find("UPDATE alert"));
    }
  }
  ASSERT_TRUE(database.execute(update));
  EXPECT_EQ(text(database, "SELECT webhook_name FROM alert"), "Orders");
  EXPECT_EQ(text(database, "SELECT webhook_url FROM alert"), "https://example.com/hook");
}

TEST(SqliteStore, FailedTransactionRollsBackEveryRole) {
  OpenSqlite store;
  Store& roles = store.store();
  StoreScript script;
  const RequestKey key{.caller = "a", .key = "k", .digest = "d", .expires_at = wall_time_max};
  const auto body = [&]() -> Result<void> {
    POSTRIDER_CHECK(roles.ledger->commit({.publishes = {script.publish({})}}));
    POSTRIDER_CHECK(roles.catalog->put_webhook(sample_webhook(StoreScript::webhook(1))));
    POSTRIDER_CHECK(roles.event_types->put({.name = "order.created"}));
    POSTRIDER_CHECK(roles.registry->apply(AddKey{}));
    POSTRIDER_CHECK(roles.audit->append({}));
    POSTRIDER_CHECK(roles.alerts->raise({}));
    POSTRIDER_CHECK(roles.operations->put({}));
    POSTRIDER_CHECK(roles.request_keys->take(key, "subject", store_epoch));
    return fail(Errc::conflict, "on purpose");
  };
  EXPECT_EQ(roles.atomically(body).error().code, Errc::conflict);
  EXPECT_TRUE(store.reader().history->list_events({}, {})->items.empty());
  EXPECT_TRUE(roles.catalog->load_webhooks()->empty());
  EXPECT_TRUE(roles.event_types->load()->empty());
  EXPECT_EQ(*roles.registry->load(), RegistryContents{});
  EXPECT_TRUE(store.reader().audit->list({}, {})->items.empty());
  EXPECT_TRUE(roles.alerts->load_active()->empty());
  EXPECT_TRUE(roles.operations->load_unfinished()->empty());
  EXPECT_TRUE(roles.request_keys->take(key, "subject", store_epoch).has_value());
}

TEST(SqliteStore, FileHasApplicationIdSchemaVersionAndWal) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(open_sqlite_store({.directory = directory.path()}).has_value());
  sqlite::Database database = open_raw(directory.path());
  EXPECT_EQ(number(database, "PRAGMA application_id"), 0x50735264);
  EXPECT_EQ(number(database, "PRAGMA user_version"), sqlite::migrations().back().version);
  EXPECT_EQ(number(database, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"),
            1);
}

TEST(SqliteStore, LogIsEmptiedByCheckpointsAndOnClose) {
  OpenSqlite store;
  StoreScript script;
  const auto log = store.options().directory / "postrider.db-wal";
  // 40 commits of 1 MiB each. Without checkpoints the log would contain them all.
  for (int i = 0; i < 40; ++i) {
    const std::string large(1 << 20, 'x');
    ASSERT_TRUE(store.store().ledger->commit({.publishes = {script.publish({}, {.data = large})}}));
    EXPECT_LT(std::filesystem::file_size(log), std::uintmax_t{20} << 20);
  }
  store.close();
  EXPECT_EQ(std::filesystem::file_size(log), 0u);
}

TEST(SqliteStore, ExpiredClaimsAreRemoved) {
  OpenSqlite store;
  StoreScript script;
  for (int day = 0; day < 10; ++day) {
    for (int i = 0; i < 10; ++i) {
      const std::string key = std::to_string(day) + "-" + std::to_string(i);
      ASSERT_TRUE(store.store().ledger->commit({.publishes = {script.publish({}, {.key = key})}}));
    }
    script.now += StoreScript::claim_life;
  }
  sqlite::Database database = open_raw(store.options().directory);
  EXPECT_LE(number(database, "SELECT count(*) FROM claim"), 20);
}

}  // namespace
}  // namespace postrider::test
