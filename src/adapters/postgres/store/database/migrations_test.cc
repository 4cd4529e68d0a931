#include "adapters/postgres/store/database/migrations.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/postgres_schema.h"

namespace postrider::postgres {
namespace {

using postrider::test::PostgresSchema;

class MigrationsTest : public testing::Test {
 protected:
  Session open() {
    Result<Session> opened = Session::open({.address = schema_.address()}, interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return *std::move(opened);
  }

  PostgresSchema schema_;
  Interruption interruption_;
};

TEST_F(MigrationsTest, AnEmptySchemaGetsTheTablesAndAnIdentity) {
  Session session = open();
  EXPECT_EQ(check_schema(session).error().code, Errc::invalid);
  const Result<Uuid> identity = migrate(session);
  ASSERT_TRUE(identity.has_value()) << identity.error().message;
  EXPECT_NE(*identity, Uuid{});
  EXPECT_EQ(migrate(session), *identity);
  EXPECT_EQ(check_schema(session), *identity);
  EXPECT_TRUE(session.run("SELECT id FROM waiting").has_value());
}

TEST_F(MigrationsTest, SeveralNodesMigrateTheSameSchemaOnce) {
  std::vector<Result<Uuid>> identities(4, Uuid{});
  std::vector<std::jthread> nodes;
  for (Result<Uuid>& identity : identities) {
    nodes.emplace_back([this, &identity] {
      Session session = open();
      identity = migrate(session);
    });
  }
  nodes.clear();
  for (const Result<Uuid>& identity : identities) {
    ASSERT_TRUE(identity.has_value()) << identity.error().message;
    EXPECT_EQ(*identity, *identities.front());
  }
}

TEST_F(MigrationsTest, TablesOfSomethingElseAreRefused) {
  Session session = open();
  ASSERT_TRUE(session.run("CREATE TABLE event (id int)").has_value());
  const Result<Uuid> refused = migrate(session);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::invalid);
}

TEST_F(MigrationsTest, ANewerSchemaIsRefused) {
  Session session = open();
  ASSERT_TRUE(migrate(session).has_value());
  ASSERT_TRUE(session.run("UPDATE postrider_schema SET version = version + 1").has_value());
  const Result<Uuid> refused = migrate(session);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::invalid);
  EXPECT_EQ(check_schema(session).error().code, Errc::invalid);
}

TEST_F(MigrationsTest, AUserWhoMayNotCreateTablesIsTold) {
  postrider::test::run_as_admin("ALTER SCHEMA " + schema_.name() +
                                " OWNER TO postgres; GRANT USAGE ON SCHEMA " + schema_.name() +
                                " TO app");
  Session session = open();
  const Result<Uuid> refused = migrate(session);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::invalid);
}

}  // namespace
}  // namespace postrider::postgres
