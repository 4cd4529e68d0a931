#include "adapters/postgres/store/database/sql_database.h"

#include <gtest/gtest.h>

#include "tests/support/postgres_schema.h"

namespace postrider::postgres {
namespace {

TEST(TranslateParameters, QuotedTextIsKept) {
  EXPECT_EQ(translate_parameters("SELECT ?1, '?2', \"?3\", 'it''s ?4', ?12"),
            "SELECT $1, '?2', \"?3\", 'it''s ?4', $12");
}

class SqlDatabaseTest : public testing::Test {
 protected:
  SqlDatabaseTest() {
    connect();
    sql::Statement create = prepare(
        "CREATE TABLE thing (id uuid PRIMARY KEY, small smallint, medium integer, large bigint,"
        " flag boolean, text text, blob bytea, real double precision)");
    const Result<void> created = create.run();
    EXPECT_TRUE(created.has_value()) << created.error().message;
  }

  void connect() {
    Result<Session> opened = Session::open({.address = schema_.address()}, interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    session_ = *std::move(opened);
  }

  sql::Statement prepare(std::string_view sql) {
    Result<sql::Statement> statement = database_.prepare(sql);
    EXPECT_TRUE(statement.has_value()) << statement.error().message;
    return *std::move(statement);
  }

  postrider::test::PostgresSchema schema_;
  Interruption interruption_;
  std::optional<Session> session_;
  SqlDatabase database_{[this](const SqlDatabase::Body& body) { return body(*session_); },
                        SqlDatabase::Access::write};
};

constexpr std::string_view insert =
    "INSERT INTO thing (id, small, medium, large, flag, text, blob, real)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
constexpr std::string_view select =
    "SELECT id, small, medium, large, flag, text, blob, real FROM thing WHERE id >= ?1 ORDER BY id";

const WebhookId first{{1}};
const WebhookId second{{2}};

TEST_F(SqlDatabaseTest, ValuesTakeTheTypesOfTheirColumns) {
  using namespace std::string_view_literals;
  const std::string odd{"a'\0\x01\xFF"sv};
  sql::Statement write = prepare(insert);
  ASSERT_TRUE(write.run(first, -7, 70'000, std::int64_t{1} << 40, true, odd, sql::Blob{odd}, 0.5));
  EXPECT_EQ(database_.changes(), 1);
  ASSERT_TRUE(write.run(second, std::nullopt, std::optional<int>{}, std::nullopt, false,
                        std::optional<std::string>{}, sql::blob_or_null(""), 3));
  sql::Statement read = prepare(select);
  for (int round = 0; round < 2; ++round) {
    sql::Query query = read.query(first);
    ASSERT_TRUE(query.next().value());
    EXPECT_EQ(query.id<WebhookId>(0), first);
    EXPECT_EQ(query.integer(1), -7);
    EXPECT_EQ(query.integer(2), 70'000);
    EXPECT_EQ(query.integer(3), std::int64_t{1} << 40);
    EXPECT_EQ(query.integer(4), 1);
    EXPECT_EQ(query.text(5), odd);
    EXPECT_EQ(query.bytes(6), odd);
    EXPECT_EQ(query.real(7), 0.5);
    ASSERT_TRUE(query.next().value());
    EXPECT_EQ(query.id<WebhookId>(0), second);
    for (const int column : {1, 2, 3, 5, 6}) {
      EXPECT_TRUE(query.is_null(column)) << column;
    }
    EXPECT_EQ(query.real(7), 3.0);
    EXPECT_FALSE(query.next().value());
  }
}

TEST_F(SqlDatabaseTest, AStatementIsUsedAgainAfterAnotherConnection) {
  sql::Statement write = prepare(insert);
  ASSERT_TRUE(write.run(first, 1, 1, 1, false, "", sql::Blob{""}, 0.0));
  connect();
  ASSERT_TRUE(write.run(second, 1, 1, 1, false, "", sql::Blob{""}, 0.0));
}

TEST_F(SqlDatabaseTest, SqlBuiltAtRunTimeIsNotKept) {
  for (int i = 0; i < 3; ++i) {
    Result<sql::Statement> statement =
        database_.prepare_once("SELECT ?1 + " + std::to_string(i) + " AS once");
    ASSERT_TRUE(statement.has_value());
    sql::Query query = statement->query(1);
    ASSERT_TRUE(query.next().value());
    EXPECT_EQ(query.integer(0), i + 1);
  }
  sql::Statement prepared =
      prepare("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%AS once'");
  sql::Query query = prepared.query();
  ASSERT_TRUE(query.next().value());
  EXPECT_EQ(query.integer(0), 0);
}

TEST_F(SqlDatabaseTest, AValueOfAnotherTypeIsAnError) {
  sql::Statement read = prepare(select);
  sql::Query query = read.query("not an id");
  EXPECT_EQ(query.next().error().code, Errc::corrupt);
}

TEST_F(SqlDatabaseTest, AnErrorOfTheServerIsReportedByTheRun) {
  sql::Statement broken = prepare("SELECT missing FROM thing");
  sql::Query query = broken.query();
  EXPECT_EQ(query.next().error().code, Errc::unavailable);
}

}  // namespace
}  // namespace postrider::postgres
