#include "core/json/json_split.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

using Slices = std::vector<std::string_view>;

TEST(SplitJsonArray, FindsTheElements) {
  EXPECT_EQ(split_json_array("[]"), Slices{});
  EXPECT_EQ(split_json_array(" [ ] "), Slices{});
  EXPECT_EQ(split_json_array("[1]"), Slices{"1"});
  EXPECT_EQ(split_json_array("\n[ 1 ,\t{\"a\":[2,3]}, \"x\" ]"),
            (Slices{"1", "{\"a\":[2,3]}", "\"x\""}));
}

TEST(SplitJsonArray, IgnoresBracketsInStrings) {
  EXPECT_EQ(split_json_array(R"(["]", "[,", "\"],", "\\", {"}":"\\\""}])"),
            (Slices{R"("]")", R"("[,")", R"("\"],")", R"("\\")", R"({"}":"\\\""})"}));
}

TEST(SplitJsonArray, DoesNotValidateTheElements) {
  EXPECT_EQ(split_json_array(R"([{"a":1,"a":2}, nonsense, "\xff" 3])"),
            (Slices{R"({"a":1,"a":2})", "nonsense", R"("\xff" 3)"}));
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(split_json_array("[" + deep + "]")->size(), 1u);
}

TEST(SplitJsonArray, MissingElementIsEmpty) {
  EXPECT_EQ(split_json_array("[,]"), (Slices{"", ""}));
  EXPECT_EQ(split_json_array("[1,]"), (Slices{"1", ""}));
  EXPECT_EQ(split_json_array("[,1]"), (Slices{"", "1"}));
}

TEST(SplitJsonArray, RejectsNonArraysAndUnmatchedBrackets) {
  for (const std::string_view text : {"", " ", "1", "{}", "\"[]\"", "[", "[1", "]", "[1}", "[\"]",
                                      "[\"\\\"]", "[1] 2", "[1],", "[[1]", "[]]", "[1]]"}) {
    EXPECT_EQ(split_json_array(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(SplitJsonArray, StaysWithinTheText, (const std::string& text)) {
  const std::string array = "[" + text;
  if (const auto slices = split_json_array(array)) {
    for (const std::string_view slice : *slices) {
      RC_ASSERT(slice.empty() || (slice.data() >= array.data() &&
                                  slice.data() + slice.size() <= array.data() + array.size()));
    }
  }
}

}  // namespace
}  // namespace postrider
