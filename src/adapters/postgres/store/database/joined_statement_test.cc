#include "adapters/postgres/store/database/joined_statement.h"

#include <gtest/gtest.h>

#include "adapters/postgres/store/database/writer_fixture.h"

namespace postrider::postgres {
namespace {

class JoinedStatementTest : public test::WriterFixture {
 protected:
  /// Returns the number of statements.
  std::size_t run(JoinedStatement joined) {
    std::size_t statements = 0;
    const Result<void> done = writer_->transact([&]() -> Result<void> {
      const std::size_t before = writer_->session().queued();
      std::move(joined).queue(writer_->session());
      statements = writer_->session().queued() - before;
      return {};
    });
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return statements;
  }

  /// Of the writer's last transaction.
  std::int64_t mark() {
    const Result<Rows> rows = writer_->session().run(
        "SELECT number FROM commit_mark WHERE writer = $1", Parameters::of(writer_->id()));
    EXPECT_TRUE(rows.has_value());
    return rows ? rows->integer(0, 0) : -1;
  }
};

constexpr std::string_view set_sql = "UPDATE number SET value = $2 WHERE n = $1";

TEST_F(JoinedStatementTest, WithoutAPartItSendsNothing) {
  JoinedStatement joined;
  EXPECT_TRUE(joined.empty());
  EXPECT_EQ(run(std::move(joined)), 0U);
}

TEST_F(JoinedStatementTest, OnePartIsAStatementOfItsOwn) {
  JoinedStatement joined;
  joined.add("set", set_sql, Parameters::of(1, 10));
  EXPECT_FALSE(joined.empty());
  EXPECT_EQ(run(std::move(joined)), 1U);
  EXPECT_EQ(value(1), 10);
}

TEST_F(JoinedStatementTest, EachPartHasParametersOfItsOwn) {
  JoinedStatement joined;
  joined.add("first", set_sql, Parameters::of(1, 10));
  joined.add("none", "UPDATE number SET value = 0 WHERE n = 7", {});
  joined.add("second", set_sql, Parameters::of(2, 20));
  joined.add("third", "INSERT INTO number SELECT $1 + $1, $3 FROM generate_series(1, $2)",
             Parameters::of(2, 1, 40));
  EXPECT_EQ(run(std::move(joined)), 1U);
  EXPECT_EQ(value(1), 10);
  EXPECT_EQ(value(2), 20);
  EXPECT_EQ(value(4), 40);
}

TEST_F(JoinedStatementTest, NumbersOfParametersMayHaveSeveralDigits) {
  JoinedStatement joined;
  joined.add("many",
             "UPDATE number SET value = $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 + $10 + $11"
             " WHERE n = $1",
             Parameters::of(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100));
  joined.add("one", set_sql, Parameters::of(2, 20));
  EXPECT_EQ(run(std::move(joined)), 1U);
  EXPECT_EQ(value(1), 109);
  EXPECT_EQ(value(2), 20);
}

TEST_F(JoinedStatementTest, APartReadsWhatAnEarlierPartReturns) {
  JoinedStatement joined;
  joined.add("moved", "DELETE FROM number WHERE n = $1 RETURNING n, value", Parameters::of(1));
  joined.add("copied", "INSERT INTO number SELECT n + $1, value + $2 FROM moved",
             Parameters::of(10, 5));
  EXPECT_EQ(run(std::move(joined)), 1U);
  EXPECT_EQ(value(11), 5);
}

TEST_F(JoinedStatementTest, APartDoesNotSeeWhatAnotherPartChanges) {
  JoinedStatement joined;
  joined.add("first", set_sql, Parameters::of(1, 10));
  joined.add("second",
             "UPDATE number SET value = (SELECT value FROM number WHERE n = 1) + 1 WHERE n = 2",
             {});
  EXPECT_EQ(run(std::move(joined)), 1U);
  EXPECT_EQ(value(1), 10);
  EXPECT_EQ(value(2), 1);
}

TEST_F(JoinedStatementTest, AFailedPartFailsAll) {
  JoinedStatement joined;
  joined.add("first", set_sql, Parameters::of(1, 10));
  joined.add("second", "INSERT INTO number VALUES ($1, 0)", Parameters::of(2));
  const Result<void> failed = writer_->transact([&]() -> Result<void> {
    std::move(joined).queue(writer_->session());
    return {};
  });
  EXPECT_FALSE(failed.has_value());
  EXPECT_EQ(value(1), 0);
}

TEST_F(JoinedStatementTest, CarriesTheMarkOfTheTransaction) {
  const std::int64_t before = mark();
  const Result<void> done = writer_->transact([this]() -> Result<void> {
    JoinedStatement joined;
    joined.add("set", set_sql, Parameters::of(1, 10));
    writer_->add_mark(joined);
    writer_->add_mark(joined);
    std::move(joined).queue(writer_->session());
    POSTRIDER_TRY(const std::vector<Rows> rows, writer_->exchange_and_commit());
    EXPECT_EQ(rows.size(), 3U);  // BEGIN, the statement, COMMIT.
    return {};
  });
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(mark(), before + 1);
}

}  // namespace
}  // namespace postrider::postgres
