// Filters with many rules: what they weigh, and that all rules are still tested.
#include <string>

#include <gtest/gtest.h>

#include "core/filter/filter.h"

namespace postrider {
namespace {

/// A filter with `count` rules for one field.
Filter with_rules(std::size_t count, const std::string& name, const std::string& value) {
  std::string rules;
  for (std::size_t i = 0; i < count; ++i) {
    rules += (i > 0 ? R"(,{")" : R"({")") + name + R"(":)" + value + "}";
  }
  return *Filter::parse(R"({"data":{"x":[)" + rules + "]}}");
}

Event with_data(std::string data) {
  Event event;
  event.data = std::move(data);
  return event;
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

TEST(FilterWeight, IsOneForAnOrdinaryFilter) {
  EXPECT_EQ(Filter::parse(R"({"data":{"amount":[{"numeric":[">",100]}],"coin":["BTC","ETH"]}})")
                ->weight(),
            1u);
  EXPECT_EQ(Filter::parse(R"({"type":[{"prefix":"order."}]})")->weight(), 1u);
}

TEST(FilterWeight, DoesNotGrowWithValuesAndNumbers) {
  EXPECT_EQ(with_rules(64, "numeric", R"([">",1000,"<",1001])").weight(), 1u);
  EXPECT_EQ(Filter::parse(R"({"data":{"x":[)" + repeated("1,", 2'000) + "1]}}")->weight(), 1u);
}

TEST(FilterWeight, GrowsWithTheTestsOfAString) {
  const std::size_t few = with_rules(8, "prefix", R"("ab")").weight();
  const std::size_t many = with_rules(64, "prefix", R"("ab")").weight();
  EXPECT_GT(few, 1u);
  EXPECT_GE(many, 6 * few);
  EXPECT_GT(with_rules(64, "wildcard", R"("*abcdefghijklm*")").weight(), few);
}

TEST(FilterWeight, GrowsWithTheFieldsOfAnObject) {
  std::string fields;
  for (int i = 0; i < 60; ++i) {
    fields += (i > 0 ? R"(,"f)" : R"("f)") + std::to_string(i) + R"(":[1])";
  }
  EXPECT_GT(Filter::parse(R"({"data":{)" + fields + "}}")->weight(), 8u);
}

TEST(FilterWeight, ManyRulesAreTestedWithManyValues) {
  std::string rules;
  for (int i = 0; i < 64; ++i) {
    rules += (i > 0 ? "," : "") + std::string{R"({"numeric":[">",)"} + std::to_string(1'000 + i) +
             R"(,"<",)" + std::to_string(1'001 + i) + "]}";
  }
  const Filter filter = *Filter::parse(R"({"data":{"x":[)" + rules + "]}}");
  const std::string values = repeated("99,", 85'000);
  EXPECT_FALSE(filter.matches(with_data(R"({"x":[)" + values + "99]}")));
  EXPECT_TRUE(filter.matches(with_data(R"({"x":[)" + values + "1063.5]}")));
}

TEST(FilterWeight, ManyWildcardsAreTestedWithALongString) {
  std::string rules;
  for (int i = 0; i < 64; ++i) {
    rules += (i > 0 ? "," : "") + std::string{R"({"wildcard":"*aaaaaaaaaaaa)"} +
             static_cast<char>('b' + i % 20) + R"(*"})";
  }
  const Filter filter = *Filter::parse(R"({"data":{"x":[)" + rules + "]}}");
  const std::string text(255'000, 'a');
  EXPECT_FALSE(filter.matches(with_data(R"({"x":")" + text + R"("})")));
  EXPECT_TRUE(filter.matches(with_data(R"({"x":")" + text + R"(u"})")));
  EXPECT_FALSE(filter.matches(with_data(R"({"x":")" + text + R"(v"})")));
}

}  // namespace
}  // namespace postrider
