#include "core/filter/filter_rule_reader.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace postrider::filter {
namespace {

/// The path and message of the error. `none` if the rule is valid.
std::string fault_of(std::string_view raw) {
  const Read<ReadRule> read = RuleReader{}.read(raw, "here");
  return read ? "none" : read.error().path + " " + read.error().message;
}

/// The only test of the rule.
template <class T>
T only_test(std::string_view raw) {
  const Read<ReadRule> read = RuleReader{}.read(raw, "here");
  EXPECT_TRUE(read.has_value()) << raw;
  EXPECT_EQ(read->rule.tests.size(), 1u) << raw;
  EXPECT_FALSE(read->matches_absence) << raw;
  return std::get<T>(read->rule.tests.at(0));
}

TEST(RuleReader, DecodesTheTextOfATextRule) {
  const auto prefix = only_test<TextPrefix>(R"({"prefix":"\u0041\n"})");
  EXPECT_EQ(prefix.text, "A\n");
  EXPECT_FALSE(prefix.ignore_case);
  EXPECT_TRUE(only_test<TextPrefix>(R"({"prefix":{"equals-ignore-case":"a"}})").ignore_case);
  const auto suffix = only_test<TextSuffix>(R"({"suffix":{"equals-ignore-case":"b"}})");
  EXPECT_EQ(suffix.text, "b");
  EXPECT_TRUE(suffix.ignore_case);
  EXPECT_FALSE(only_test<TextSuffix>(R"({"suffix":""})").ignore_case);
  EXPECT_EQ(only_test<TextIgnoringCase>(R"({"equals-ignore-case":"x"})").text, "x");
  EXPECT_TRUE(only_test<Wildcard>(R"({"wildcard":"a*"})").matches("ab"));
  EXPECT_TRUE(only_test<Cidr>(R"({"cidr":"10.0.0.0/8"})").contains(*IpAddress::parse("10.9.8.7")));
}

TEST(RuleReader, DecodesTheNameOfARule) {
  EXPECT_EQ(only_test<TextPrefix>(R"({"pref\u0069x":"a"})").text, "a");
}

TEST(RuleReader, KeepsBoundsAsWritten) {
  const auto range = only_test<NumberRange>(R"({"numeric":["<=",5.0,">",-1e2]})");
  EXPECT_EQ(range.low->number, "-1e2");
  EXPECT_FALSE(range.low->inclusive);
  EXPECT_EQ(range.high->number, "5.0");
  EXPECT_TRUE(range.high->inclusive);

  const auto low = only_test<NumberRange>(R"({"numeric":[">=",0]})");
  EXPECT_TRUE(low.low->inclusive);
  EXPECT_FALSE(low.high.has_value());

  const auto equal = only_test<NumberRange>(R"({"numeric":["=",7]})");
  EXPECT_EQ(equal.low->number, "7");
  EXPECT_EQ(equal.high->number, "7");
  EXPECT_TRUE(equal.low->inclusive);
  EXPECT_TRUE(equal.high->inclusive);
}

TEST(RuleReader, RejectsInvalidComparisons) {
  constexpr std::string_view named = "here.numeric must use the comparisons =, <, <=, > or >=.";
  for (const std::string_view comparison : {"", "==", "=<", "=>", "<>", "><", ">>=", "<==", "!="}) {
    EXPECT_EQ(fault_of(fmt::format(R"({{"numeric":["{}",1]}})", comparison)), named) << comparison;
  }
  constexpr std::string_view shape =
      R"(here.numeric must be comparisons and numbers, such as [">", 0, "<=", 5].)";
  for (const std::string_view raw :
       {"1", "[]", R"([">"])", R"([">",1,"<"])", R"([">",1,"<",2,"=",3])", R"([">","1"])",
        R"([">",true])", R"([1,">"])", R"({">":1})", "null"}) {
    EXPECT_EQ(fault_of(fmt::format(R"({{"numeric":{}}})", raw)), shape) << raw;
  }
}

TEST(RuleReader, RejectsAnEmptyRange) {
  constexpr std::string_view empty =
      "here.numeric must have its lower bound below its upper bound.";
  EXPECT_EQ(fault_of(R"({"numeric":[">=",5,"<=",5]})"), empty);
  EXPECT_EQ(fault_of(R"({"numeric":["<",1,">",1e1]})"), empty);
  EXPECT_EQ(fault_of(R"({"numeric":[">",4.99999999999999999999,"<",5]})"), "none");
}

TEST(RuleReader, ExistsMatchesAnyValueOrAbsence) {
  const Read<ReadRule> present = RuleReader{}.read(R"({"exists":true})", "here");
  EXPECT_FALSE(present->matches_absence);
  EXPECT_TRUE(matches(present->rule, Scalar::from_json("null")));
  const Read<ReadRule> absent = RuleReader{}.read(R"({"exists":false})", "here");
  EXPECT_TRUE(absent->matches_absence);
  EXPECT_FALSE(matches(absent->rule, Scalar::from_json("null")));
}

TEST(RuleReader, ReadsAnythingButOfASingleValueOrAList) {
  for (const std::string_view raw : {R"({"anything-but":2})", R"({"anything-but":[2.0]})"}) {
    const Read<ReadRule> read = RuleReader{}.read(raw, "here");
    EXPECT_FALSE(matches(read->rule, Scalar::from_json("2"))) << raw;
    EXPECT_TRUE(matches(read->rule, Scalar::from_json(R"("2")"))) << raw;
  }
  const Read<ReadRule> many = RuleReader{}.read(R"({"anything-but":["b",1,"a",null]})", "here");
  EXPECT_EQ(many->rule.tests.size(), 1u) << "plain values form a single test";
  for (const std::string_view json : {R"("a")", R"("b")", "1", "null"}) {
    EXPECT_FALSE(matches(many->rule, Scalar::from_json(json))) << json;
  }
  EXPECT_TRUE(matches(many->rule, Scalar::from_json("true")));
}

TEST(RuleReader, ReadsAnythingButOfTextRules) {
  const Read<ReadRule> read =
      RuleReader{}.read(R"({"anything-but":{"prefix":["a",{"equals-ignore-case":"b"}]}})", "here");
  EXPECT_EQ(read->rule.tests.size(), 2u);
  EXPECT_FALSE(matches(read->rule, Scalar::from_text("a-")));
  EXPECT_FALSE(matches(read->rule, Scalar::from_text("B-")));
  EXPECT_TRUE(matches(read->rule, Scalar::from_text("A-")));
  EXPECT_EQ(fault_of(R"({"anything-but":{"prefix":[]}})"),
            "here.anything-but.prefix must not be empty.");
  EXPECT_EQ(fault_of(R"({"anything-but":{"wildcard":["a","**"]}})"),
            "here.anything-but.wildcard must not contain two adjacent stars. Use a single star.");
}

TEST(RuleReader, LimitsTheRulesOfAWholeFilterButNotPlainValues) {
  RuleReader reader;
  std::string listed = R"("x")";
  for (std::size_t index = 2; index < filter_rules_max; ++index) {
    listed += R"(,"x")";
  }
  EXPECT_TRUE(reader.read(fmt::format(R"({{"anything-but":{{"prefix":[{}]}}}})", listed), "first"));
  EXPECT_TRUE(reader.read(fmt::format(R"({{"anything-but":[{}]}})", listed), "second"));
  const Read<ReadRule> third = reader.read(R"({"prefix":"a"})", "third");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().path, "third");
  EXPECT_EQ(
      third.error().message,
      "is one rule too many. A filter may have at most 64 rules and any number of plain values.");
}

TEST(RuleReader, LimitsTheWildcardBytesOfAWholeFilter) {
  RuleReader reader;
  const auto wildcard = [](std::size_t bytes) {
    return fmt::format(R"({{"wildcard":"{}"}})", std::string(bytes, 'x'));
  };
  EXPECT_TRUE(reader.read(wildcard(filter_wildcard_bytes_max - 1), "first"));
  EXPECT_FALSE(reader.read(wildcard(2), "second"));
  EXPECT_TRUE(reader.read(wildcard(1), "third")) << "rejected wildcards are not counted";
  EXPECT_TRUE(reader.read(wildcard(0), "fourth"));
}

}  // namespace
}  // namespace postrider::filter
