#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/filter/filter.h"

namespace postrider {
namespace {

/// The path and message of the error. `none` if the pattern is valid.
std::string fault_of(std::string_view pattern) {
  const auto filter = Filter::parse(pattern);
  return filter ? "none" : filter.error().path + " " + filter.error().message;
}

TEST(FilterParse, ReportsThePathAndTheReason) {
  struct Case {
    std::string_view pattern;
    std::string_view want;
  };
  constexpr Case cases[] = {
      {R"({"data":{"amount":[{"numeric":[">"]}]}})",
       "data.amount[0].numeric must be comparisons and numbers, such as [\">\", 0, \"<=\", 5]."},
      {R"({"data":{"amount":[1,{"numeric":["~",1]}]}})",
       "data.amount[1].numeric must use the comparisons =, <, <=, > or >=."},
      {R"({"data":{"amount":[{"numeric":["==",1]}]}})",
       "data.amount[0].numeric must use the comparisons =, <, <=, > or >=."},
      {R"({"data":{"amount":[{"numeric":[">",1,">=",2]}]}})",
       "data.amount[0].numeric must be one comparison, or one with > or >= and one with < or <=."},
      {R"({"data":{"amount":[{"numeric":["=",1,"<",2]}]}})",
       "data.amount[0].numeric must be one comparison, or one with > or >= and one with < or <=."},
      {R"({"data":{"amount":[{"numeric":[">",5,"<",5.0]}]}})",
       "data.amount[0].numeric must have its lower bound below its upper bound."},
      {R"({"data":{"a":{"b":"x"}}})",
       "data.a.b must be an array of values and rules, such as [\"BTC\"], or an object."},
      {R"({"data":{"a":[]}})", "data.a must have at least one value or rule."},
      {R"({"data":{"a":{}}})", "data.a must have at least one field."},
      {R"({"data":{"a":[["x"]]}})", "data.a[0] must be a value or a rule, not an array."},
      {R"({"data":{"a":[{}]}})",
       "data.a[0] must be an object with one rule, such as {\"prefix\": \"a\"}."},
      {R"({"data":{"a":[{"prefix":"a","suffix":"b"}]}})",
       "data.a[0] must be an object with one rule, such as {\"prefix\": \"a\"}."},
      {R"({"data":{"a":[{"prefx":"a"}]}})",
       "data.a[0].prefx is not a rule. The rules are prefix, suffix, equals-ignore-case, wildcard, "
       "exists, numeric, anything-but, cidr."},
      {R"({"data":{"a":[{"prefix":1}]}})",
       "data.a[0].prefix must be a string or {\"equals-ignore-case\": \"a string\"}."},
      {R"({"data":{"a":[{"suffix":{"prefix":"a"}}]}})",
       "data.a[0].suffix must be a string or {\"equals-ignore-case\": \"a string\"}."},
      {R"({"data":{"a":[{"exists":"yes"}]}})", "data.a[0].exists must be true or false."},
      {R"({"data":{"a":[{"wildcard":"a**b"}]}})",
       "data.a[0].wildcard must not contain two adjacent stars. Use a single star."},
      {R"({"data":{"a":[{"wildcard":"a\\b"}]}})",
       "data.a[0].wildcard may use a backslash only to escape `*` or `\\`."},
      {R"({"data":{"a":[{"equals-ignore-case":null}]}})",
       "data.a[0].equals-ignore-case must be a string."},
      {R"({"data":{"a":[{"cidr":"10.0.0.1/8"}]}})",
       "data.a[0].cidr must be a range of addresses, such as \"10.0.0.0/24\"."},
      {R"({"data":{"a":[{"anything-but":[]}]}})", "data.a[0].anything-but must not be empty."},
      {R"({"data":{"a":[{"anything-but":[["x"]]}]}})",
       "data.a[0].anything-but must contain only strings, numbers, true, false and null."},
      {R"({"data":{"a":[{"anything-but":{"numeric":["=",1]}}]}})",
       "data.a[0].anything-but must be a value, an array of values, or an object with one of "
       "prefix, suffix, equals-ignore-case, wildcard."},
      {R"({"data":{"a":[{"anything-but":{"prefix":[1]}}]}})",
       "data.a[0].anything-but.prefix must be a string or {\"equals-ignore-case\": \"a string\"}."},
      {R"({"$or":[{"type":["a"]}]})", "$or must be an array of at least two objects."},
      {R"({"data":{"$or":[{"a":[1]},{"b":1}]}})",
       "data.$or[1].b must be an array of values and rules, such as [\"BTC\"], or an object."},
      {R"({"amount":[1]})",
       "amount is not an event field. The fields are id, type, timestamp, tenant_id, "
       "resource_id, source, metadata, data. The published payload is under data."},
      {R"({"type":{"a":[1]}})",
       "type is a string in every event. Use an array of values and rules."},
      {"{}", " must have at least one field."},
      {"[]", " must be an object. The JSON must be an object."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fault_of(c.pattern), c.want) << c.pattern;
  }
}

/// `{"data":{"a":[item,item,…]}}`
std::string pattern_of(std::string_view item, std::size_t count) {
  std::string list;
  for (std::size_t index = 0; index < count; ++index) {
    list += fmt::format("{}{}", index > 0 ? "," : "", item);
  }
  return fmt::format(R"({{"data":{{"a":[{}]}}}})", list);
}

TEST(FilterParse, EnforcesItsLimitsExactly) {
  const std::string frame = pattern_of(R"("")", 1);
  const auto sized = [&](std::size_t bytes) {
    return pattern_of('"' + std::string(bytes - frame.size(), 'x') + '"', 1);
  };
  EXPECT_EQ(fault_of(sized(filter_bytes_max)), "none");
  EXPECT_EQ(fault_of(sized(filter_bytes_max + 1)), " must have at most 8192 bytes.");

  EXPECT_EQ(fault_of(pattern_of(R"({"prefix":"a"})", filter_rules_max)), "none");
  EXPECT_EQ(fault_of(pattern_of(R"({"prefix":"a"})", filter_rules_max + 1)),
            "data.a[64] is one rule too many. A filter may have at most 64 rules and any number of "
            "plain values.");
  EXPECT_EQ(fault_of(pattern_of("1", 4'000)), "none");

  const auto but = [](std::size_t count) {
    std::string list = R"("a")";
    for (std::size_t index = 1; index < count; ++index) {
      list += R"(,"a")";
    }
    return fmt::format(R"({{"data":{{"a":[{{"anything-but":{{"suffix":[{}]}}}}]}}}})", list);
  };
  EXPECT_EQ(fault_of(but(filter_rules_max)), "none");
  EXPECT_EQ(fault_of(but(filter_rules_max + 1)),
            "data.a[0].anything-but.suffix is too long. A filter may have at most 64 rules.");

  const auto wildcards = [](std::size_t bytes) {
    return fmt::format(R"({{"data":{{"a":[{{"wildcard":"{}"}},{{"wildcard":"*"}}]}}}})",
                       std::string(bytes - 1, 'x'));
  };
  EXPECT_EQ(fault_of(wildcards(filter_wildcard_bytes_max)), "none");
  EXPECT_EQ(fault_of(wildcards(filter_wildcard_bytes_max + 1)),
            "data.a[1].wildcard is too long. All wildcards of a filter together may have at most "
            "1024 bytes.");

  const auto fields = [](std::size_t count) {
    std::string list;
    for (std::size_t index = 1; index < count; ++index) {
      list += fmt::format(R"({}"f{}":[1])", index > 1 ? "," : "", index);
    }
    return fmt::format(R"({{"data":{{{}}}}})", list);
  };
  EXPECT_EQ(fault_of(fields(filter_fields_max)), "none");
  EXPECT_EQ(fault_of(fields(filter_fields_max + 1)),
            "data.f64 is one field too many. A filter may have at most 64 fields.");
}

TEST(FilterParse, IsLimitedToTheJsonDepth) {
  std::string deep = "[1]";
  for (int level = 0; level < 30; ++level) {
    deep = R"({"a":)" + deep + "}";
  }
  EXPECT_EQ(fault_of(R"({"data":)" + deep + "}"), "none");
  EXPECT_NE(fault_of(R"({"data":{"a":)" + deep + "}}").find("32 levels"), std::string::npos);
}

TEST(FilterParse, KeepsItsTextAndComparesByIt) {
  const auto filter = Filter::parse(R"( { "type" : ["a"] } )");
  EXPECT_EQ(filter->text(), R"( { "type" : ["a"] } )");
  EXPECT_EQ(*filter, *Filter::parse(R"( { "type" : ["a"] } )"));
  EXPECT_NE(*filter, *Filter::parse(R"({"type":["a"]})"));
}

TEST(FilterParse, HandlesMutatedPatterns) {
  constexpr std::string_view samples[] = {
      R"({"$or":[{"type":["a"]},{"data":{"a":[{"numeric":[">",0,"<=",5]}],"b":{"c":[null]}}}]})",
      R"({"data":{"s":[{"anything-but":{"wildcard":["a*\\*","b"]}},{"cidr":"10.0.0.0/8"}]}})",
  };
  SplitMix64 random{42};
  Event event;
  event.data = R"({"a":[1,{"b":"x"}],"b":{"c":null},"s":"10.1.1.1"})";
  for (int round = 0; round < 20'000; ++round) {
    std::string text{samples[random.below(std::size(samples))]};
    for (std::uint64_t change = random.below(3); change < 3; ++change) {
      text[random.below(text.size())] = R"({}[]"\:,a1*)"[random.below(11)];
    }
    if (const auto filter = Filter::parse(text)) {
      (void)filter->matches(event);
    } else {
      EXPECT_FALSE(filter.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace postrider
