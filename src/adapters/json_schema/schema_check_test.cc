#include "adapters/json_schema/schema_check.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace postrider {
namespace {

/// The first fault as `path message`. `fine` if there is none.
std::string result_of(std::string_view schema, std::string_view json) {
  const auto check = make_schema_check(schema);
  if (!check) {
    return "schema: " + check.error().message;
  }
  const std::vector<SchemaFault> faults = (*check)->check(json);
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
       "items[0].count does not satisfy the schema: Value type not permitted by 'type' "
       "constraint."},
      {R"({"amount":0,"items":[{}]})",
       "amount does not satisfy the schema: Expected number greater than 0.000000"},
      {R"({"amount":1,"items":[]})",
       "items does not satisfy the schema: Array should contain no fewer than 1 elements."},
      {R"({"items":[{}]})", " does not satisfy the schema: Missing required property 'amount'."},
      {R"({"amount":1,"items":[{}],"currency":"DOGE"})",
       "currency does not satisfy the schema: Failed to match against any enum values."},
      {R"([])", " does not satisfy the schema: Value type not permitted by 'type' constraint."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(result_of(order_schema, c.json), c.want) << c.json;
  }
  EXPECT_NE(result_of(order_schema, R"({"amount":1,"items":[{}],"more":1})"), "fine");
}

TEST(SchemaCheck, ChecksTheSupportedFormats) {
  const auto with = [](std::string_view format, std::string_view text) {
    return result_of(R"({"format":")" + std::string{format} + R"("})",
                     '"' + std::string{text} + '"');
  };
  EXPECT_EQ(with("date-time", "2026-01-31T23:59:59.123Z"), "fine");
  EXPECT_EQ(with("date-time", "2026-02-30T00:00:00Z"), " must be a date-time.");
  EXPECT_EQ(with("date", "2024-02-29"), "fine");
  EXPECT_EQ(with("date", "2026-02-29"), " must be a date.");
  EXPECT_EQ(with("ipv4", "10.0.0.1"), "fine");
  EXPECT_EQ(with("ipv4", "::1"), " must be a ipv4.");
  EXPECT_EQ(with("ipv6", "::1"), "fine");
  EXPECT_EQ(with("uuid", "0190b5d8-8f3a-7c2e-9d41-4c2f5a6b7c8d"), "fine");
  EXPECT_EQ(with("uuid", "0190b5d8"), " must be a uuid.");
  EXPECT_EQ(with("hostname", "anything at all"), "fine") << "unknown formats are ignored";
  EXPECT_EQ(with("date-time", std::string(200'000, '1')), " must be a date-time.");
}

TEST(SchemaCheck, PatternsMatchCodePointsInLinearTime) {
  EXPECT_EQ(result_of(R"({"pattern":"^.$"})", R"("ä")"), "fine");
  EXPECT_EQ(result_of(R"({"pattern":"^[ä-ü]+$"})", R"("äöü")"), "fine");
  EXPECT_EQ(result_of(R"({"pattern":"^😀$"})", R"("😀")"), "fine");
  EXPECT_EQ(result_of(R"({"pattern":"b"})", R"("abc")"), "fine") << "anywhere in the text";
  EXPECT_EQ(result_of(R"({"pattern":"b"})", "5"), "fine") << "only for strings";
  const std::string many = '"' + std::string(4'000, 'a') + '"';
  EXPECT_EQ(result_of(R"({"pattern":"^(a+)+$"})", many), "fine");
  EXPECT_EQ(result_of(R"({"pattern":"^(a+)+b$"})", many), " must match the pattern `^(a+)+b$`.");
  EXPECT_EQ(result_of(R"({"pattern":"^(a|a)*b$"})", many), " must match the pattern `^(a|a)*b$`.");
  EXPECT_EQ(result_of(R"({"pattern":"a"})", '"' + std::string(4'097, 'a') + '"'),
            " must have at most 4096 bytes to be matched with a pattern.");
}

TEST(SchemaCheck, StopsASchemaThatTakesTooLong) {
  // Every level of the data is checked twice as often as the enclosing level.
  constexpr std::string_view doubling =
      R"({"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]})";
  std::string deep = "1";
  for (int level = 0; level < 31; ++level) {
    deep = R"({"a":)" + deep + "}";
  }
  EXPECT_EQ(result_of(doubling, deep), " takes too long to check with its schema.");
  EXPECT_EQ(result_of(doubling, R"({"a":{"a":1}})"), "fine");

  std::string unique = "[0";
  for (int number = 1; number < 5'000; ++number) {
    unique += "," + std::to_string(number);
  }
  EXPECT_EQ(result_of(R"({"uniqueItems":true})", unique + "]"),
            " takes too long to check with its schema.");
}

TEST(SchemaCheck, SupportsRecursiveSchemas) {
  constexpr std::string_view tree = R"({"type":"object","properties":{"value":{"type":"integer"},)"
                                    R"("children":{"type":"array","items":{"$ref":"#"}}}})";
  EXPECT_EQ(result_of(tree, R"({"value":1,"children":[{"value":2},{"children":[{"value":3}]}]})"),
            "fine");
  EXPECT_EQ(
      result_of(tree, R"({"children":[{},{"children":[{"value":"x"}]}]})"),
      "children[1].children[0].value does not satisfy the schema: Value type not permitted by "
      "'type' constraint.");
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
            "2 does not satisfy the schema: Value type not permitted by 'type' constraint.");
}

TEST(SchemaCheck, LimitsTheLengthOfMatchedKeys) {
  constexpr std::string_view schema =
      R"({"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false})";
  EXPECT_EQ(result_of(schema, R"({"x-a":"y"})"), "fine");
  EXPECT_EQ(result_of(schema, R"({"x-a":1})"),
            "x-a does not satisfy the schema: Value type not permitted by 'type' constraint.");
  EXPECT_NE(result_of(schema, R"({"y":"y"})"), "fine");
  EXPECT_EQ(result_of(schema, R"({"x-)" + std::string(300'000, 'a') + R"(":"y"})"),
            " has a key of more than 256 bytes, which its schema cannot match.");
}

TEST(SchemaCheck, MayBeUsedByManyThreads) {
  const auto check = make_schema_check(order_schema);
  std::vector<std::thread> threads;
  std::vector<int> fine(4, 0);
  for (std::size_t index = 0; index < fine.size(); ++index) {
    threads.emplace_back([&, index] {
      for (int round = 0; round < 50; ++round) {
        fine[index] += (*check)->check(R"({"amount":1,"items":[{"sku":"AB-1"}]})").empty() ? 1 : 0;
        fine[index] += (*check)->check(R"({"amount":1,"items":[{"sku":"ab-1"}]})").empty() ? 0 : 1;
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
