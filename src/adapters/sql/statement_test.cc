#include "adapters/sql/statement.h"

#include <string>

#include <gtest/gtest.h>

#include "adapters/sql/echo_database.h"

namespace postrider::test {
namespace {

enum class Colour : std::uint8_t { red, green };

sql::Statement statement() { return EchoDatabase{}.prepare("").value(); }

TEST(SqlStatement, ValuesAreReadAsTheyWereBound) {
  const WebhookId id{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255}};
  const WallTime time = wall_from_unix_ms(-5);
  sql::Statement echo = statement();
  sql::Query query = echo.query(7u, -0.5, "text", sql::Blob{std::string_view{"\0x", 2}}, id, time,
                                Colour::green, Millis{9}, true);
  ASSERT_TRUE(query.next().value());
  EXPECT_EQ(query.as<std::uint32_t>(0), 7u);
  EXPECT_EQ(query.real(1), -0.5);
  EXPECT_EQ(query.text(2), "text");
  EXPECT_EQ(query.bytes(3), (std::string_view{"\0x", 2}));
  EXPECT_EQ(query.id<WebhookId>(4), id);
  EXPECT_EQ(query.time(5), time);
  EXPECT_EQ(query.as<Colour>(6), Colour::green);
  EXPECT_EQ(query.integer(7), 9);
  EXPECT_EQ(query.integer(8), 1);
  EXPECT_FALSE(query.next().value());
}

TEST(SqlStatement, AbsentValuesAreNull) {
  sql::Statement echo = statement();
  sql::Query query = echo.query(std::nullopt, std::optional<WallTime>{}, std::optional<WebhookId>{},
                                sql::blob_or_null(""), std::optional{Colour::red});
  ASSERT_TRUE(query.next().value());
  EXPECT_TRUE(query.is_null(0));
  EXPECT_EQ(query.time_or_null(1), std::nullopt);
  EXPECT_EQ(query.id_or_null<WebhookId>(2), std::nullopt);
  EXPECT_EQ(query.text_or_null(3), std::nullopt);
  EXPECT_EQ(query.as_or_null<Colour>(4), Colour::red);
}

TEST(SqlStatement, BytesOfAnotherLengthAreNoId) {
  sql::Statement echo = statement();
  sql::Query query = echo.query(sql::Blob{"short"});
  ASSERT_TRUE(query.next().value());
  EXPECT_EQ(query.id<WebhookId>(0), WebhookId{});
}

TEST(SqlStatement, AQueryResetsItsStatement) {
  sql::Statement echo = statement();
  for (const std::int64_t number : {1, 2}) {
    sql::Query query = echo.query(number);
    ASSERT_TRUE(query.next().value());
    EXPECT_EQ(query.integer(0), number);
  }
}

}  // namespace
}  // namespace postrider::test
