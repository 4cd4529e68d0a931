// The budget stops every check that would take long, and leaves the others alone.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

#include "adapters/json_schema/schema_check.h"

namespace postrider {
namespace {

struct Outcome {
  bool out_of_steps = false;
  std::size_t faults = 0;
  std::uint64_t steps = 0;
};

Outcome run(std::string_view schema, std::string_view json) {
  const auto check = make_schema_check(schema);
  EXPECT_TRUE(check) << schema.substr(0, 200) << (check ? "" : check.error().message);
  StepBudget budget;
  const SchemaVerdict verdict = (*check)->check(json, budget);
  return {verdict.out_of_steps, verdict.faults.size(), request_steps_max - budget.left()};
}

template <class Make>
std::string list(std::size_t count, Make make) {
  std::string text;
  for (std::size_t index = 0; index < count; ++index) {
    text += (index > 0 ? "," : "") + make(index);
  }
  return text;
}

std::string numbers(std::size_t count) {
  return "[" + list(count, [](std::size_t index) { return std::to_string(index); }) + "]";
}

TEST(SchemaSteps, StopExponentialSchemas) {
  // Every level of the data is checked twice as often as the enclosing level.
  for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
    const std::string schema =
        fmt::format(R"({{"{0}":[{{"properties":{{"a":{{"$ref":"#"}},"b":false}}}},)"
                    R"({{"properties":{{"a":{{"$ref":"#"}},"c":false}}}}]}})",
                    keyword);
    // Satisfies no alternative, so that all are tried.
    std::string deep = keyword == "allOf" ? "1" : R"({"b":1,"c":1})";
    for (int level = 0; level < 30; ++level) {
      deep = R"({"a":)" + deep + "}";
    }
    EXPECT_TRUE(run(schema, deep).out_of_steps) << keyword;
    EXPECT_FALSE(run(schema, R"({"a":{"a":1}})").out_of_steps) << keyword;
  }
}

TEST(SchemaSteps, StopWideSchemasOnLongArrays) {
  const auto empty = [](std::size_t) { return std::string{"{}"}; };
  EXPECT_TRUE(
      run(fmt::format(R"({{"items":{{"allOf":[{}]}}}})", list(10'000, empty)), numbers(40'000))
          .out_of_steps);
  const std::string patterns = fmt::format(
      R"({{"patternProperties":{{{}}}}})",
      list(450, [](std::size_t index) { return fmt::format(R"("^x{}":true)", index); }));
  const std::string keys = fmt::format(
      "{{{}}}", list(20'000, [](std::size_t index) { return fmt::format(R"("k{}":1)", index); }));
  EXPECT_TRUE(run(patterns, keys).out_of_steps);
  const std::string digits =
      fmt::format(R"({{"items":{{"minimum":1.{}1}}}})", std::string(60'000, '0'));
  EXPECT_TRUE(run(digits, numbers(1'000)).out_of_steps);
}

TEST(SchemaSteps, AreSpentForEveryComparisonOfValues) {
  const auto not_equal = [](std::size_t) { return std::string{R"({"not":{"enum":[1]}})"}; };
  const std::string many = fmt::format(R"({{"allOf":[{}]}})", list(3'000, not_equal));
  EXPECT_LT(run(many, numbers(40'000)).steps, 600'000U) << "a long value equals none of the values";
  const auto not_object = [](std::size_t) {
    return R"({"not":{"const":")" + std::string(600, 'c') + R"("}})";
  };
  const std::string objects = fmt::format(R"({{"allOf":[{}]}})", list(90, not_object));
  const auto member = [](std::size_t index) {
    return fmt::format(R"("{}{}":1)", std::string(1'000, 'k'), index);
  };
  EXPECT_FALSE(run(objects, fmt::format("{{{}}}", list(240, member))).out_of_steps);
  const std::string digits =
      fmt::format(R"({{"allOf":[{}]}})",
                  list(2'000, [](std::size_t) { return std::string{R"({"type":"integer"})"}; }));
  EXPECT_TRUE(run(digits, "1" + std::string(240'000, '3')).out_of_steps);
}

TEST(SchemaSteps, StopPatternsThatRe2MatchesSlowly) {
  SplitMix64 random{7};
  const auto word = [&random](std::size_t) {
    std::string text = "\"";
    for (int index = 0; index < 100; ++index) {
      text += random.below(2) == 0 ? 'a' : 'b';
    }
    return text + "\"";
  };
  const std::string words = "[" + list(2'300, word) + "]";
  for (const std::string_view pattern :
       {"[ab]*a[ab]{100}c", "[ab]*a[ab]{400}c", "([ab]?){300}a{300}c"}) {
    const std::string schema = fmt::format(R"({{"items":{{"not":{{"pattern":"{}"}}}}}})", pattern);
    EXPECT_TRUE(run(schema, words).out_of_steps) << pattern;
  }
  const std::string one = "\"" + std::string(240'000, 'a') + "\"";
  EXPECT_TRUE(run(R"({"pattern":"a{300}b"})", one).out_of_steps) << "could take too long";
  EXPECT_FALSE(run(R"({"pattern":"^\\s+|\\s+$"})", one).out_of_steps);
  EXPECT_FALSE(run(R"({"pattern":"(x+x+)+y"})", one).out_of_steps);
}

TEST(SchemaSteps, SufficeForLargeButSimpleChecks) {
  EXPECT_EQ(run(R"({"uniqueItems":true})", numbers(40'000)).faults, 0U);
  EXPECT_FALSE(run(R"({"uniqueItems":true})", numbers(40'000)).out_of_steps);
  const std::string equal = "[" + list(100'000, [](std::size_t) { return std::string{"0"}; }) + "]";
  EXPECT_EQ(run(R"({"uniqueItems":true})", equal).faults, 1U);
  const std::string text = "\"" + std::string(250'000, 'a') + "\"";
  EXPECT_EQ(run(R"({"type":"string","maxLength":250000})", text).faults, 0U);
  EXPECT_EQ(run(R"({"enum":["b","c"]})", text).faults, 1U);
  EXPECT_LT(run(R"({"enum":["b","c"]})", text).steps, 100'000U);
  EXPECT_EQ(run(R"({"items":{"type":"integer","minimum":0}})", numbers(40'000)).faults, 0U);
  EXPECT_FALSE(run(R"({"multipleOf":0.7})", "1" + std::string(240'000, '3')).out_of_steps);
}

TEST(SchemaSteps, AreSharedByTheChecksOfABudget) {
  const auto check = make_schema_check(R"({"uniqueItems":true})");
  ASSERT_TRUE(check);
  StepBudget budget;
  const std::string json = numbers(40'000);
  int fine = 0;
  while (fine < 1'000 && !(*check)->check(json, budget).out_of_steps) {
    ++fine;
  }
  EXPECT_GE(fine, 1);
  EXPECT_LT(fine, 10);
  EXPECT_TRUE((*check)->check("[]", budget).out_of_steps) << "nothing is left for small values";
}

TEST(SchemaSteps, FaultsAreFewAndShort) {
  const std::string key(200'000, 'k');
  const std::string schema = R"({"additionalProperties":{"items":{"type":"null"}}})";
  const auto check = make_schema_check(schema);
  ASSERT_TRUE(check);
  StepBudget budget;
  const SchemaVerdict verdict =
      (*check)->check(fmt::format(R"({{"{}":{}}})", key, numbers(10'000)), budget);
  ASSERT_EQ(verdict.faults.size(), 10U);
  for (const SchemaFault& fault : verdict.faults) {
    EXPECT_LT(fault.path.size() + fault.message.size(), 300U);
  }
}

TEST(SchemaSteps, SchemasAreLimitedWhenTheyAreCompiled) {
  const auto with_patterns = [](std::size_t count, std::string_view pattern) {
    return fmt::format(R"({{"properties":{{{}}}}})", list(count, [&](std::size_t index) {
                         return fmt::format(R"("p{}":{{"pattern":"{}{}"}})", index, pattern, index);
                       }));
  };
  EXPECT_TRUE(make_schema_check(with_patterns(500, "x")));
  EXPECT_EQ(make_schema_check(with_patterns(501, "x")).error().message,
            "/properties/p500/pattern is one pattern too many. A schema may have 500.");
  EXPECT_EQ(make_schema_check(with_patterns(60, "a{500}")).error().message,
            "/properties/p39/pattern is too complex. All patterns of a schema together may have "
            "20000 instructions of RE2; a single one may have 4000.");
  EXPECT_TRUE(make_schema_check(fmt::format(
      R"({{"properties":{{{}}}}})",
      list(1'500,
           [](std::size_t index) { return fmt::format(R"("p{}":{{"pattern":"^a+$"}})", index); }))))
      << "a repeated pattern counts once";
}

}  // namespace
}  // namespace postrider
