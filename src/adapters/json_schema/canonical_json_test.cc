#include "adapters/json_schema/canonical_json.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "adapters/json_schema/steps.h"

namespace postrider::json_schema {
namespace {

std::string canonical(std::string_view json, std::size_t bytes_max = 1'000'000) {
  const JsonTree tree{json};
  StepBudget budget;
  std::string out;
  return append_canonical(out, tree.root(), bytes_max, budget) ? out : "too long";
}

TEST(CanonicalJson, IsEqualForEqualValues) {
  EXPECT_EQ(canonical("1"), canonical("1.0"));
  EXPECT_EQ(canonical("1e3"), canonical("1000.000"));
  EXPECT_EQ(canonical("-0"), canonical("0.0e5"));
  EXPECT_EQ(canonical(R"({"a":1,"b":[1,"x"]})"), canonical(R"({"b":[1.0,"\u0078"],"a":1e0})"));
}

TEST(CanonicalJson, DiffersForDifferentValues) {
  constexpr std::string_view values[] = {"null",
                                         "true",
                                         "false",
                                         "0",
                                         "1",
                                         "-1",
                                         R"("")",
                                         R"("0")",
                                         R"("1:a")",
                                         R"("null")",
                                         "[]",
                                         "{}",
                                         "[0]",
                                         "[[]]",
                                         "[0,0]",
                                         R"(["0"])",
                                         R"({"a":0})",
                                         R"({"a":1})",
                                         R"({"b":0})",
                                         "[1,2]",
                                         "[2,1]",
                                         R"(["a","b"])",
                                         R"(["ab"])",
                                         R"(["a\",\"b"])",
                                         "10",
                                         "1e400",
                                         "1e401",
                                         "9007199254740993",
                                         "9007199254740992"};
  for (const std::string_view a : values) {
    for (const std::string_view b : values) {
      EXPECT_EQ(canonical(a) == canonical(b), a == b) << a << " " << b;
    }
  }
}

TEST(CanonicalJson, StopsAtItsLimit) {
  std::string wide = "[0";
  for (int index = 0; index < 50'000; ++index) {
    wide += ",0";
  }
  EXPECT_EQ(canonical(wide + "]", 100), "too long");
  EXPECT_EQ(canonical('"' + std::string(1'000, 'a') + '"', 1'000), "too long");
  EXPECT_EQ(canonical(R"({"abc":1})", 5), "too long");
  EXPECT_EQ(canonical("[1,2]", 4), "too long");
  for (const std::string_view value : {"[1,2]", R"({"abc":[null,true,"x"]})", R"("abc")", "12"}) {
    const std::string text = canonical(value);
    EXPECT_EQ(canonical(value, text.size()), text) << value;
    EXPECT_EQ(canonical(value, text.size() - 1), "too long") << value;
  }
}

TEST(CanonicalJson, SpendsSteps) {
  const JsonTree tree{R"(["a","b","c"])"};
  StepBudget budget{5};
  std::string out;
  EXPECT_THROW((void)append_canonical(out, tree.root(), 100, budget), OutOfSteps);
}

}  // namespace
}  // namespace postrider::json_schema
