#include "adapters/json_schema/schema_check.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace postrider {
namespace {

/// The first fault as `path message`. `fine` if there is none.
std::string result_of(std::string_view schema, std::string_view json) {
  const auto check = make_schema_check(schema);
  if (!check) {
    return "schema: " + check.error().message;
  }
  StepBudget budget;
  const SchemaVerdict verdict = (*check)->check(json, budget);
  if (verdict.out_of_steps) {
    return "out of steps";
  }
  const std::vector<SchemaFault>& faults = verdict.faults;
  return faults.empty() ? "fine" : faults.front().path + " " + faults.front().message;
}

constexpr std::string_view order_schema = R"({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "$id": "https://example.com/order.json",
  "type": "object",
  "required": ["amount", "items"],
  "properties": {
    "amount": {"type": "number", "exclusiveMinimum": 0},
    "currency": {"enum": ["BTC", "ETH"]},
    "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/item"}}
  },
  "additionalProperties": false,
  "definitions": {
    "item": {"type": "object", "properties": {
      "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}, "count": {"type": "integer"}}}
  }
})";

TEST(SchemaCheck, ReportsThePathAndTheReason) {
  struct Case {
    std::string_view json;
    std::string_view want;
  };
  constexpr Case cases[] = {
      {R"({"amount":1,"items":[{"sku":"AB-1","count":2}]})", "fine"},
      {R"({"amount":1,"items":[{"count":2.0}]})", "fine"},
      {R"({"amount":1,"items":[{"sku":"AB-1"},{"sku":"ab"}]})",
       "items[1].sku must match the pattern `^[A-Z]{2}-[0-9]+$`."},
      {R"({"amount":1,"items":[{"count":2.5}]})",
       "items[0].count must be a whole number, but is a number."},
      {R"({"amount":0,"items":[{}]})", "amount must be greater than 0."},
      {R"({"amount":1,"items":[]})", "items must have at least 1 elements, but has 0."},
      {R"({"items":[{}]})", " must have the property `amount`."},
      {R"({"amount":1,"items":[{}],"currency":"DOGE"})",
       R"(currency must be one of: "BTC", "ETH".)"},
      {R"({"amount":1,"items":[{}],"more":1})", "more is not allowed by the schema."},
      {R"([])", " must be an object, but is an array."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(result_of(order_schema, c.json), c.want) << c.json;
  }
}

TEST(SchemaCheck, HasARuleForEachKeyword) {
  struct Case {
    std::string_view schema;
    std::string_view fine;
    std::string_view wrong;
    std::string_view fault;
  };
  constexpr Case cases[] = {
      {R"({"type":["null","boolean"]})", "true", "1",
       " must be null or true or false, but is a number."},
      {R"({"enum":[1,"a",{"b":[2]}]})", R"({"b":[2.0]})", R"({"b":[3]})",
       R"( must be one of: 1, "a", {…}.)"},
      {R"({"const":null})", "null", "0", " must be null."},
      {R"({"minimum":1.5})", "1.5", "1.4999999999999999999999", " must be at least 1.5."},
      {R"({"maximum":9007199254740992})", "9007199254740992", "9007199254740993",
       " must be at most 9007199254740992."},
      {R"({"exclusiveMinimum":1})", "1.0000000000000000000001", "1.0", " must be greater than 1."},
      {R"({"exclusiveMaximum":1})", "-1e400", "1e400", " must be less than 1."},
      {R"({"multipleOf":0.1})", "0.3", "0.35", " must be a multiple of 0.1."},
      {R"({"minLength":2})", R"("éé")", R"("é")", " must have at least 2 characters, but has 1."},
      {R"({"maxLength":1})", R"("😀")", R"("ab")", " must have at most 1 characters, but has 2."},
      {R"({"pattern":"^a+$"})", R"("aa")", R"("ab")", " must match the pattern `^a+$`."},
      {R"({"format":"date"})", R"("2024-02-29")", R"("2026-02-29")", " must be a date."},
      {R"({"items":{"type":"null"}})", "[null]", "[null,1]", "[1] must be null, but is a number."},
      {R"({"items":[true],"additionalItems":false})", "[1]", "[1,2]",
       "[1] is not allowed by the schema."},
      {R"({"minItems":1})", "[1]", "[]", " must have at least 1 elements, but has 0."},
      {R"({"maxItems":1})", "[1]", "[1,2]", " must have at most 1 elements, but has 2."},
      {R"({"uniqueItems":true})", R"([1,"1",[1],true])", "[1,2,1.0]",
       " must not have equal elements."},
      {R"({"contains":{"const":1}})", "[2,1]", "[2]",
       " must contain an element that satisfies the schema in `contains`."},
      {R"({"required":["a"]})", R"({"a":1})", "{}", " must have the property `a`."},
      {R"({"minProperties":1})", R"({"a":1})", "{}",
       " must have at least 1 properties, but has 0."},
      {R"({"maxProperties":1})", R"({"a":1})", R"({"a":1,"b":1})",
       " must have at most 1 properties, but has 2."},
      {R"({"properties":{"a":{"type":"null"}}})", R"({"a":null,"b":1})", R"({"a":1})",
       "a must be null, but is a number."},
      {R"({"patternProperties":{"^x-":{"type":"null"}}})", R"({"x-a":null,"a":1})", R"({"x-a":1})",
       "x-a must be null, but is a number."},
      {R"({"properties":{"a":true},"patternProperties":{"^x":true},"additionalProperties":false})",
       R"({"a":1,"xy":2})", R"({"b":1})", "b is not allowed by the schema."},
      {R"({"propertyNames":{"maxLength":1}})", R"({"a":1})", R"({"ab":1})",
       " must not have the property `ab`: its name does not satisfy the schema in "
       "`propertyNames`."},
      {R"({"dependencies":{"a":["b"]}})", R"({"a":1,"b":1})", R"({"a":1})",
       " must have the property `b`, because it has `a`."},
      {R"({"dependencies":{"a":{"required":["b"]}}})", "{}", R"({"a":1})",
       " must have the property `b`."},
      {R"({"allOf":[true,{"minimum":1}]})", "1", "0", " must be at least 1."},
      {R"({"anyOf":[{"const":1},{"const":2}]})", "2", "3",
       " must satisfy at least one of the 2 schemas in `anyOf`."},
      {R"({"oneOf":[{"minimum":1},{"minimum":2}]})", "1", "2",
       " must satisfy exactly one of the 2 schemas in `oneOf`, but satisfies several."},
      {R"({"oneOf":[{"minimum":1},{"minimum":2}]})", "1", "0",
       " must satisfy exactly one of the 2 schemas in `oneOf`, but satisfies none."},
      {R"({"not":{"type":"null"}})", "1", "null", " must not satisfy the schema in `not`."},
      {R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}})", "20", "21",
       " must be a multiple of 10."},
      {R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}})", "5", "6",
       " must be at most 5."},
      {R"({"$ref":"#/$defs/a","minimum":100,"$defs":{"a":{"maximum":1}}})", "1", "2",
       " must be at most 1."},
      {R"({"$ref":"#/definitions/a%20~1b","definitions":{"a /b":{"type":"null"}}})", "null", "2",
       " must be null, but is a number."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(result_of(c.schema, c.fine), "fine") << c.schema;
    EXPECT_EQ(result_of(c.schema, c.wrong), c.fault) << c.schema;
  }
}

TEST(SchemaCheck, RulesForOtherTypesAreIgnored) {
  constexpr std::string_view schemas[] = {
      R"({"minimum":5,"multipleOf":3})", R"({"minLength":5,"pattern":"^x$","format":"date"})",
      R"({"minItems":5,"contains":false})", R"({"required":["a"],"minProperties":5})"};
  constexpr std::string_view values[] = {"1", R"("a")", "[]", "{}", "true", "null"};
  for (std::size_t schema = 0; schema < std::size(schemas); ++schema) {
    for (std::size_t value = 0; value < std::size(values); ++value) {
      EXPECT_EQ(result_of(schemas[schema], values[value]) == "fine", schema != value)
          << schemas[schema] << " " << values[value];
    }
  }
}

TEST(SchemaCheck, ComparesNumbersExactly) {
  EXPECT_EQ(result_of(R"({"type":"integer"})", "1e400"), "fine");
  EXPECT_EQ(result_of(R"({"type":"integer"})", "12.50e1"), "fine");
  EXPECT_NE(result_of(R"({"type":"integer"})", "1e-300"), "fine");
  EXPECT_EQ(result_of(R"({"multipleOf":1})", "-9223372036854775808"), "fine");
  EXPECT_EQ(result_of(R"({"multipleOf":1e-300})", "1"), "fine");
  EXPECT_EQ(result_of(R"({"multipleOf":0.0001})", "0.0075"), "fine");
  EXPECT_NE(result_of(R"({"multipleOf":0.0001})", "0.00751"), "fine");
  EXPECT_NE(result_of(R"({"multipleOf":0.123456789})", "1e308"), "fine");
  EXPECT_EQ(result_of(R"({"multipleOf":7})", "1e99999999999999999999"),
            " must be a multiple of 7.");
  EXPECT_EQ(result_of(R"({"multipleOf":8})", "1e99999999999999999999"), "fine");
  EXPECT_NE(result_of(R"({"maximum":0.1})", "0.1000000000000000055511151231257827"), "fine");
  EXPECT_EQ(result_of(R"({"minLength":1e400})", R"("a")"),
            " must have at least 18446744073709551615 characters, but has 1.");
  EXPECT_EQ(result_of(R"({"maxLength":1e400,"minLength":1.0})", R"("a")"), "fine");
}

TEST(SchemaCheck, SupportsRecursiveSchemas) {
  constexpr std::string_view tree = R"({"type":"object","properties":{"value":{"type":"integer"},)"
                                    R"("children":{"type":"array","items":{"$ref":"#"}}}})";
  EXPECT_EQ(result_of(tree, R"({"value":1,"children":[{"value":2},{"children":[{"value":3}]}]})"),
            "fine");
  EXPECT_EQ(result_of(tree, R"({"children":[{},{"children":[{"value":"x"}]}]})"),
            "children[1].children[0].value must be a whole number, but is a string.");
}

TEST(SchemaCheck, ManagesTheLongestChainAtTheDeepestLevel) {
  std::string definitions = R"("d0":{"properties":{"a":{"$ref":"#/definitions/d15"}}})";
  for (int link = 1; link < 16; ++link) {
    definitions +=
        fmt::format(R"(,"d{}":{{"allOf":[{{"$ref":"#/definitions/d{}"}}]}})", link, link - 1);
  }
  const std::string schema =
      fmt::format(R"({{"properties":{{"a":{{"$ref":"#/definitions/d14"}}}},"definitions":{{{}}}}})",
                  definitions);
  std::string deep = "1";
  for (int level = 0; level < 32; ++level) {
    deep = R"({"a":)" + deep + "}";
  }
  EXPECT_EQ(result_of(schema, deep), "fine");
}

TEST(SchemaCheck, HandlesEdgeCasesOfJson) {
  EXPECT_EQ(result_of("true", "1"), "fine");
  EXPECT_NE(result_of("false", "1"), "fine");
  EXPECT_EQ(result_of("{}", R"({"":[null,true,-0.0,"\u0000"]})"), "fine");
  EXPECT_EQ(result_of(R"({"const":1.0})", "1"), "fine");
  EXPECT_EQ(result_of(R"({"type":"integer"})", "9223372036854775807"), "fine");
  EXPECT_EQ(result_of(R"({"type":"number"})", "18446744073709551615"), "fine");
  EXPECT_EQ(result_of(R"({"maxLength":1})", R"("😀")"), "fine");
  EXPECT_EQ(result_of(R"({"const":"a\u0000b"})", R"("a\u0000b")"), "fine");
  EXPECT_NE(result_of(R"({"const":"a\u0000b"})", R"("a\u0000c")"), "fine");
  EXPECT_EQ(result_of(R"({"properties":{"2":{"type":"null"}}})", R"({"2":5})"),
            "2 must be null, but is a number.");
}

TEST(SchemaCheck, MayBeUsedByManyThreads) {
  const auto check = make_schema_check(order_schema);
  std::vector<std::thread> threads;
  std::vector<int> fine(4, 0);
  for (std::size_t index = 0; index < fine.size(); ++index) {
    threads.emplace_back([&, index] {
      for (int round = 0; round < 50; ++round) {
        StepBudget budget;
        const auto faults_of = [&](std::string_view json) {
          return (*check)->check(json, budget).faults.size();
        };
        fine[index] += faults_of(R"({"amount":1,"items":[{"sku":"AB-1"}]})") == 0 ? 1 : 0;
        fine[index] += faults_of(R"({"amount":1,"items":[{"sku":"ab-1"}]})") == 1 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(fine, std::vector<int>(4, 100));
}

}  // namespace
}  // namespace postrider
