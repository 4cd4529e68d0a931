// `postrider migrate` and the check of `postrider doctor`, on a database.
#include "adapters/postgres/store/database/maintenance.h"

#include <gtest/gtest.h>

#include "adapters/postgres/store/database/migrations.h"
#include "adapters/postgres/store/database/writer_fixture.h"

namespace postrider::postgres {
namespace {

using postrider::test::PostgresSchema;
using postrider::test::run_as_admin;

class MaintenanceTest : public testing::Test {
 protected:
  [[nodiscard]] PostgresOptions as(DatabaseUse use) const {
    return {.connect = {.address = schema_.address()}, .use = use};
  }

  void set_version(const std::string& version) const {
    run_as_admin("UPDATE " + schema_.name() + ".postrider_schema SET version = " + version);
  }

  PostgresSchema schema_;
  const PostgresOptions tool_ = as(DatabaseUse::unlocked);
  const std::int64_t newest_ = static_cast<std::int64_t>(embedded_migrations().size());
};

TEST_F(MaintenanceTest, TheVersionIsReadWithoutMigrating) {
  for (int i = 0; i < 2; ++i) {
    const Result<SchemaVersions> empty = postgres_schema_versions(tool_);
    ASSERT_TRUE(empty.has_value()) << empty.error().message;
    EXPECT_EQ(empty->found, 0);
    EXPECT_EQ(empty->newest, newest_);
  }
}

TEST_F(MaintenanceTest, AnEmptyDatabaseIsMigratedOnce) {
  EXPECT_EQ(migrate_postgres(tool_)->found, 0);
  EXPECT_EQ(postgres_schema_versions(tool_)->found, newest_);
  EXPECT_EQ(migrate_postgres(tool_)->found, newest_);
}

TEST_F(MaintenanceTest, ADatabaseInUseIsNotMigratedButRead) {
  for (const DatabaseUse use : {DatabaseUse::alone, DatabaseUse::shared}) {
    const std::unique_ptr<Writer> server = test::open_writer(as(use));
    EXPECT_EQ(migrate_postgres(tool_)->found, newest_) << "there is nothing to migrate";
    set_version("version - 1");
    const Result<SchemaVersions> refused = migrate_postgres(tool_);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Errc::conflict);
    EXPECT_EQ(refused.error().message,
              "The database is already used by another postrider process. Stop all servers before "
              "a migration.");
    EXPECT_EQ(postgres_schema_versions(tool_)->found, newest_ - 1);
    set_version("version + 1");
  }
}

TEST_F(MaintenanceTest, ANewerSchemaIsRefused) {
  ASSERT_TRUE(migrate_postgres(tool_).has_value());
  set_version("version + 1");
  EXPECT_EQ(migrate_postgres(tool_).error().code, Errc::invalid);
  EXPECT_EQ(postgres_schema_versions(tool_).error().code, Errc::invalid);
}

}  // namespace
}  // namespace postrider::postgres
