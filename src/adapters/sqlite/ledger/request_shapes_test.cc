#include <algorithm>
#include <fstream>
#include <iterator>

#include "adapters/sqlite/database/data_directory.h"

#include "tests/support/open_sqlite.h"
#include "tests/support/stored_shapes.h"

namespace postrider::test {
namespace {

class SqliteShapes final : public ShapeStore {
 public:
  OpenStore& open() override { return store_; }
  void reopen_with(std::shared_ptr<const Vault> vault) override {
    store_.reopen_with(std::move(vault));
  }

  std::int64_t query(const std::string& sql) override {
    sqlite::Database database =
        sqlite::Database::open({.file = file(), .access = sqlite::Access::read}).value();
    sqlite::Statement statement = database.prepare(sql).value();
    sqlite::Query query = statement.query();
    EXPECT_TRUE(query.next().value_or(false));
    return query.integer(0);
  }

  bool contains(std::string_view text) override {
    std::string all;
    for (const std::string suffix : {"", "-wal"}) {
      std::ifstream bytes{file().string() + suffix, std::ios::binary};
      all.append(std::istreambuf_iterator<char>{bytes}, {});
    }
    return all.find(text) != std::string::npos;
  }

  void skip_sequences() override {}  // They have no gaps.

 private:
  [[nodiscard]] std::filesystem::path file() const {
    return sqlite::database_file(store_.options().directory);
  }

  OpenSqlite store_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, StoredShapes,
                         testing::Values(ShapeStoreFactory{
                             "Sqlite", [] { return std::make_unique<SqliteShapes>(); }}));

}  // namespace
}  // namespace postrider::test
