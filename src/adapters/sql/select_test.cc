#include "adapters/sql/select.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/sql/echo_database.h"

namespace postrider::test {
namespace {

TEST(SqlSelect, WithoutConditionsSelectsEverything) {
  sql::Select select{"SELECT a FROM t"};
  select.where_in("a", std::vector<int>{});
  select.append(" LIMIT 1");
  EXPECT_EQ(select.sql(), "SELECT a FROM t LIMIT 1");
}

TEST(SqlSelect, NumbersItsParametersInTheOrderOfTheConditions) {
  sql::Select select{"SELECT a FROM t"};
  select.where("a = ?", std::int64_t{1});
  select.where("b IS NULL");
  select.where_in("c", std::vector<int>{2, 3});
  select.where_with("(d > ? AND d < ?)", {"x", "y"});
  select.where("e = ?", std::int64_t{4});
  EXPECT_EQ(select.sql(),
            "SELECT a FROM t WHERE a = ?1 AND b IS NULL AND c IN (?2, ?3)"
            " AND (d > ?4 AND d < ?5) AND e = ?6");

  EchoDatabase database;
  sql::Statement statement = select.prepare(database).value();
  sql::Query query = statement.query();
  ASSERT_TRUE(query.next().value());
  EXPECT_EQ(query.integer(0), 1);
  EXPECT_EQ(query.integer(1), 2);
  EXPECT_EQ(query.integer(2), 3);
  EXPECT_EQ(query.text(3), "x");
  EXPECT_EQ(query.text(4), "y");
  EXPECT_EQ(query.integer(5), 4);
}

}  // namespace
}  // namespace postrider::test
