#include "adapters/sqlite/database/store_check.h"

#include <cstddef>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/deep_check.h"
#include "adapters/sqlite/database/table_walk.h"

#include "tests/support/open_sqlite.h"

namespace postrider {
namespace {

using sqlite::Access;
using sqlite::Database;
using sqlite::Query;
using sqlite::Statement;
using testing::HasSubstr;

constexpr std::streamoff page_bytes = 4096;

class StoreCheckTest : public testing::Test {
 protected:
  /// A closed store with a few thousand rows.
  StoreCheckTest() {
    {
      EXPECT_TRUE(open_sqlite_store(options()).has_value());
    }
    Database database = open(Access::write);
    EXPECT_TRUE(
        database
            .execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                     " WHERE i < 3000) INSERT INTO event SELECT i, randomblob(16), i % 7,"
                     " 1, 1, i, i, i % 2, 'key' || i, CASE i % 3 WHEN 0 THEN 'r' || i END,"
                     " NULL, NULL, '', printf('%.*c', i % 900, 'x'), 0, NULL, NULL, NULL FROM n;"
                     "INSERT INTO tenant SELECT DISTINCT tenant, 't' || tenant FROM event;"
                     "INSERT INTO attempt SELECT i, 1, 0, 0, randomblob(16), i, 1, 1, i,"
                     " NULL, NULL, 200, zeroblob(50) FROM (SELECT sequence i FROM event)")
            .has_value());
    EXPECT_TRUE(database.truncate_wal().has_value());
  }

  [[nodiscard]] SqliteOptions options() const {
    return {.directory = directory_.path(), .digest = test::test_digest};
  }
  [[nodiscard]] Database open(Access access) const {
    return Database::open({.file = sqlite::database_file(directory_.path()), .access = access})
        .value();
  }

  /// The damage of one pass.
  std::vector<std::string> pass(std::uint64_t* rows = nullptr) {
    std::vector<std::string> damage;
    for (int steps = 0; steps < 10'000; ++steps) {
      const Result<CheckStep> step = check_->check_some(100);
      EXPECT_TRUE(step.has_value()) << step.error().message;
      if (!step) {
        break;
      }
      if (rows != nullptr) {
        *rows += step->rows;
      }
      if (step->damage) {
        damage.push_back(*step->damage);
      }
      if (step->pass_ended) {
        return damage;
      }
    }
    ADD_FAILURE() << "The pass does not end.";
    return damage;
  }

  std::vector<std::string> check_deeply() {
    return check_sqlite_deeply(options(), [](std::uint64_t, std::uint64_t, const std::string&) {})
        .value();
  }

  /// The leaf pages of a table or an index.
  std::vector<std::int64_t> leaves(const std::string& name) {
    Database database = open(Access::read);
    Statement statement = database
                              .prepare(
                                  "SELECT pageno FROM dbstat WHERE name = ?1"
                                  " AND pagetype = 'leaf' ORDER BY pageno")
                              .value();
    std::vector<std::int64_t> pages;
    Query query = statement.query(name);
    while (query.next().value()) {
      pages.push_back(query.integer(0));
    }
    EXPECT_GT(pages.size(), 2u) << name;
    return pages;
  }

  void overwrite(std::int64_t page, std::streamoff offset, const std::string& bytes) {
    std::fstream file{sqlite::database_file(directory_.path()),
                      std::ios::in | std::ios::out | std::ios::binary};
    file.seekp((page - 1) * page_bytes + offset);
    file << bytes;
    EXPECT_TRUE(file.good());
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<StoreCheck> check_ = make_sqlite_store_check(options());
};

TEST_F(StoreCheckTest, ASoundStoreHasNoDamage) {
  std::uint64_t rows = 0;
  EXPECT_EQ(pass(&rows), std::vector<std::string>{});
  EXPECT_GT(rows, 6'000u);
  rows = 0;
  EXPECT_EQ(pass(&rows), std::vector<std::string>{}) << "the next pass";
  EXPECT_GT(rows, 6'000u);
  EXPECT_EQ(check_deeply(), std::vector<std::string>{});
}

TEST_F(StoreCheckTest, EveryTableAndIndexIsWalked) {
  Database database = open(Access::read);
  std::set<std::string> walked;
  const std::vector<sqlite::TableShape> tables = sqlite::read_tables(database).value();
  for (const sqlite::TableShape& table : tables) {
    walked.insert(table.name);
    EXPECT_FALSE(table.key.empty()) << table.name;
    for (const sqlite::IndexShape& index : table.indexes) {
      walked.insert(index.name);
      EXPECT_FALSE(index.columns.empty()) << index.name;
    }
  }
  Statement statement =
      database
          .prepare(
              "SELECT name FROM sqlite_schema WHERE type IN ('table', 'index')"
              " AND rootpage > 0 AND name NOT IN ('sqlite_sequence', 'sqlite_stat1')")
          .value();
  Query query = statement.query();
  while (query.next().value()) {
    EXPECT_TRUE(walked.contains(query.text(0))) << query.text(0);
  }
}

TEST_F(StoreCheckTest, ADamagedPageIsFoundInEveryKindOfTree) {
  const std::map<std::string, std::string> owners = {
      {"event", "event"},        {"attempt", "attempt"},      {"sqlite_autoindex_event_1", "event"},
      {"event_tenant", "event"}, {"event_resource", "event"}, {"attempt_time", "attempt"}};
  for (const auto& [tree, table] : owners) {
    const std::int64_t page = leaves(tree)[1];
    for (const char byte : {'\0', '\xa7'}) {
      std::string before(4096, '\0');
      std::ifstream file{sqlite::database_file(directory_.path()), std::ios::binary};
      file.seekg((page - 1) * page_bytes);
      file.read(before.data(), std::ssize(before));
      overwrite(page, 0, std::string(4096, byte));
      const std::vector<std::string> damage = pass();
      ASSERT_EQ(damage.size(), 1u) << tree;
      EXPECT_THAT(damage[0], HasSubstr(tree));
      EXPECT_THAT(damage[0], HasSubstr("table " + table));
      EXPECT_FALSE(check_deeply().empty()) << tree;
      overwrite(page, 0, before);
      EXPECT_EQ(pass(), std::vector<std::string>{}) << tree;
    }
  }
}

TEST_F(StoreCheckTest, ABadCellPointerIsFound) {
  overwrite(leaves("event")[1], 8, "\xff\xff");
  EXPECT_EQ(pass().size(), 1u);
}

TEST_F(StoreCheckTest, ARowThatItsIndexLacksIsFound) {
  {
    Database database = open(Access::write);
    ASSERT_TRUE(database
                    .execute("PRAGMA writable_schema = ON;"
                             "UPDATE sqlite_schema SET sql = replace(sql, '(tenant)', '(type)')"
                             " WHERE name = 'event_tenant'; PRAGMA writable_schema = OFF")
                    .has_value());
    ASSERT_TRUE(database.truncate_wal().has_value());
  }
  const std::vector<std::string> damage = pass();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_THAT(damage[0], HasSubstr("index event_tenant of the table event"));
  EXPECT_FALSE(check_deeply().empty());
}

TEST_F(StoreCheckTest, ADamagedSchemaEndsThePass) {
  overwrite(1, 100, std::string(200, '\xa7'));
  EXPECT_EQ(pass().size(), 1u);
  EXPECT_EQ(pass().size(), 1u);
  EXPECT_FALSE(check_deeply().empty());
}

TEST_F(StoreCheckTest, DamageWhileTheStoreIsUsedIsFound) {
  const Result<Store> store = open_sqlite_store(options());
  ASSERT_TRUE(store.has_value()) << store.error().message;
  const Result<Reader> reader = open_sqlite_reader(options());
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(pass(), std::vector<std::string>{});
  overwrite(leaves("event")[1], 0, std::string(64, '\0'));
  EXPECT_EQ(pass().size(), 1u);
}

TEST_F(StoreCheckTest, ALostTailIsFoundDeeply) {
  {
    EXPECT_TRUE(open_sqlite_store(options()).has_value());
  }
  EXPECT_EQ(check_deeply(), std::vector<std::string>{});
  std::filesystem::remove(sqlite::database_file(directory_.path()));
  EXPECT_THAT(check_deeply(), testing::ElementsAre(HasSubstr("is missing")));
}

TEST_F(StoreCheckTest, AWaitingDeliveryWithoutEventIsFoundDeeply) {
  {
    Database database = open(Access::write);
    ASSERT_TRUE(
        database
            .execute("INSERT INTO delivery (sequence, id, event, lane, previous, ordered,"
                     " tenant, type, priority, state, trigger, due, attempt_count,"
                     " budget_used, created_at, updated_at) VALUES"
                     " (90001, randomblob(16), 90000, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0)")
            .has_value());
  }
  EXPECT_THAT(check_deeply(), testing::ElementsAre(HasSubstr("1 waiting deliveries")));
}

TEST(DeepCheck, AnEmptyDirectoryHasNoStore) {
  const test::TemporaryDirectory directory;
  EXPECT_EQ(check_sqlite_deeply({.directory = directory.path()},
                                [](std::uint64_t, std::uint64_t, const std::string&) {})
                .error()
                .code,
            Errc::not_found);
}

}  // namespace
}  // namespace postrider
