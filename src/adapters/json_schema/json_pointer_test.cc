#include "adapters/json_schema/json_pointer.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace postrider::json_schema {
namespace {

std::string target_of(std::string_view pointer) {
  const JsonTree tree{R"({"a":{"b/c":"slash","~":"tilde","":"empty","d e":"space"},"l":[7,8]})"};
  const JsonNode* node = follow_pointer(tree.root(), pointer);
  return node == nullptr                  ? "nothing"
         : node->kind == JsonKind::object ? "object"
                                          : std::string{node->text};
}

TEST(JsonPointer, FollowsNamesAndIndexes) {
  EXPECT_EQ(target_of(""), "object");
  EXPECT_EQ(target_of("/a"), "object");
  EXPECT_EQ(target_of("/a/b~1c"), "slash");
  EXPECT_EQ(target_of("/a/~0"), "tilde");
  EXPECT_EQ(target_of("/a/"), "empty");
  EXPECT_EQ(target_of("/a/d%20e"), "space");
  EXPECT_EQ(target_of("/l/0"), "7");
  EXPECT_EQ(target_of("/l/1"), "8");
}

TEST(JsonPointer, PointsToNothing) {
  for (const std::string_view pointer : {"a", "/b", "/l/2", "/l/-1", "/l/01", "/l/", "/l/0/x",
                                         "/l/99999999999999999999", "/a/%2", "/a/%zz", "/a/b/c"}) {
    EXPECT_EQ(target_of(pointer), "nothing") << pointer;
  }
}

}  // namespace
}  // namespace postrider::json_schema
