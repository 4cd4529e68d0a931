#include "adapters/json_schema/json_tree.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace postrider::json_schema {
namespace {

std::vector<std::string> keys_of(const JsonNode& object) {
  std::vector<std::string> keys;
  for (const JsonNode& member : JsonChildren{object}) {
    keys.emplace_back(member.key);
  }
  return keys;
}

TEST(JsonTree, KeepsOrderKindsAndTheTextOfNumbers) {
  constexpr std::string_view text =
      R"( {"a":[1.50,[],{"x":{}}], "b\u00e9":"c\nd", "t":true,"f":false,"n":null, "e":-1E+400} )";
  const JsonTree tree{text};
  const JsonNode& root = tree.root();
  EXPECT_EQ(root.kind, JsonKind::object);
  EXPECT_EQ(root.count, 6U);
  EXPECT_EQ(root.span, tree.size());
  EXPECT_EQ(keys_of(root), (std::vector<std::string>{"a", "bé", "t", "f", "n", "e"}));
  EXPECT_EQ(find_member(root, "bé")->text, "c\nd");
  EXPECT_TRUE(find_member(root, "t")->truth);
  EXPECT_FALSE(find_member(root, "f")->truth);
  EXPECT_EQ(find_member(root, "n")->kind, JsonKind::null);
  EXPECT_EQ(find_member(root, "e")->text, "-1E+400");
  EXPECT_EQ(find_member(root, "z"), nullptr);
  const JsonNode& array = *find_member(root, "a");
  EXPECT_EQ(array.count, 3U);
  EXPECT_EQ(array.span, 5U);
  EXPECT_EQ((*JsonChildren{array}.begin()).text, "1.50");
}

TEST(JsonTree, ScalarsHaveNoChildren) {
  for (const std::string_view text : {"1", "\"a\"", "null", "[]", "{}"}) {
    const JsonTree tree{text};
    EXPECT_TRUE(JsonChildren{tree.root()}.begin() == JsonChildren{tree.root()}.end()) << text;
  }
}

}  // namespace
}  // namespace postrider::json_schema
