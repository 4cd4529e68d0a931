// Who may use a database at the same time. See DatabaseUse.
#include <gtest/gtest.h>

#include "adapters/postgres/store/database/writer_fixture.h"

namespace postrider::postgres {
namespace {

using postrider::test::postgres_server;
using postrider::test::PostgresSchema;
using postrider::test::run_as_admin;
using postrider::test::ServerProcess;

class DatabaseUseTest : public testing::Test {
 protected:
  [[nodiscard]] PostgresOptions as(DatabaseUse use) const {
    return {.connect = {.address = schema_.address()}, .use = use};
  }

  static void expect_refused(const PostgresOptions& options, const std::string& why) {
    const Result<std::unique_ptr<Writer>> refused = Writer::open(options);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Errc::conflict);
    EXPECT_EQ(refused.error().message, why);
  }

  PostgresSchema schema_;
  const std::string used_ = "The database is already used by another postrider process.";
  const std::string not_shared_ =
      "The database is used by a postrider process that does not share it.";
};

TEST_F(DatabaseUseTest, WhoUsesItAloneKeepsAllOthersOut) {
  std::unique_ptr<Writer> alone = test::open_writer(as(DatabaseUse::alone));
  expect_refused(as(DatabaseUse::alone), used_);
  expect_refused(as(DatabaseUse::shared), not_shared_);
  EXPECT_NE(test::open_writer(as(DatabaseUse::unlocked)), nullptr);
  alone.reset();
  EXPECT_NE(test::open_writer(as(DatabaseUse::shared)), nullptr);
}

TEST_F(DatabaseUseTest, WhoSharesItKeepsOutThoseWhoDoNot) {
  std::unique_ptr<Writer> one = test::open_writer(as(DatabaseUse::shared));
  std::unique_ptr<Writer> other = test::open_writer(as(DatabaseUse::shared));
  expect_refused(as(DatabaseUse::alone), used_);
  one.reset();
  expect_refused(as(DatabaseUse::alone), used_);
  other.reset();
  EXPECT_NE(test::open_writer(as(DatabaseUse::alone)), nullptr);
}

TEST_F(DatabaseUseTest, OtherSchemasAreOtherDatabases) {
  const PostgresSchema another;
  const std::unique_ptr<Writer> alone = test::open_writer(as(DatabaseUse::alone));
  EXPECT_NE(
      test::open_writer({.connect = {.address = another.address()}, .use = DatabaseUse::alone}),
      nullptr);
}

TEST_F(DatabaseUseTest, TheLockIsTakenAgainAfterALostConnection) {
  std::unique_ptr<Writer> shared = test::open_writer(as(DatabaseUse::shared));
  run_as_admin(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app'");
  {
    const std::unique_ptr<Writer> alone = test::open_writer(as(DatabaseUse::alone));
    EXPECT_EQ(shared->reopen().error().code, Errc::unavailable);
  }
  EXPECT_TRUE(shared->reopen().has_value());
  expect_refused(as(DatabaseUse::alone), used_);
}

TEST_F(DatabaseUseTest, BehindAConnectionPoolTransactionsShareTheDatabase) {
  // A pool accepts no search_path in an address.
  run_as_admin("CREATE DATABASE pooled_use OWNER app STRATEGY file_copy");
  {
    const ServerProcess pool{"pgbouncer", {postgres_server().member("port"), "pooled_use", "2"}};
    const auto pooled = [&](DatabaseUse use) {
      return PostgresOptions{
          .connect = {.address = Secret{pool.member("address")}, .statement_max = Millis{1'000}},
          .use = use};
    };
    EXPECT_EQ(Writer::open(pooled(DatabaseUse::alone)).error().code, Errc::invalid);
    std::unique_ptr<Writer> node = test::open_writer(pooled(DatabaseUse::shared));
    const PostgresOptions tool{
        .connect = {.address =
                        Secret{postrider::test::local_postgres_address("app", "pooled_use")}},
        .use = DatabaseUse::alone};
    EXPECT_TRUE(node->transact([&]() -> Result<void> {
      POSTRIDER_CHECK(node->session().run("SELECT 1"));
      expect_refused(tool, used_);
      return {};
    }));
    const std::unique_ptr<Writer> alone = test::open_writer(tool);
    expect_refused(pooled(DatabaseUse::shared), not_shared_);
    const Result<void> kept_out = node->transact([&]() -> Result<void> {
      POSTRIDER_CHECK(node->session().run("SELECT 1"));
      return {};
    });
    ASSERT_FALSE(kept_out.has_value());
    EXPECT_EQ(kept_out.error().code, Errc::unavailable);
  }
  run_as_admin("DROP DATABASE pooled_use WITH (FORCE)");
}

}  // namespace
}  // namespace postrider::postgres
