#include "adapters/json_schema/places.h"

#include <string>

#include <gtest/gtest.h>

namespace postrider::json_schema {
namespace {

TEST(Places, ArePointers) {
  Places places;
  const std::uint32_t property = places.add(0, "properties", "a/b~c");
  const std::uint32_t items = places.add(property, "items");
  EXPECT_EQ(places.pointer(0), "");
  EXPECT_EQ(places.pointer(property), "/properties/a~1b~0c");
  EXPECT_EQ(places.pointer(items), "/properties/a~1b~0c/items");
  EXPECT_EQ(places.pointer(places.add(items, "allOf", "12")), "/properties/a~1b~0c/items/allOf/12");
  EXPECT_LT(places.pointer(places.add(0, "properties", std::string(10'000, 'x'))).size(), 200U);
}

TEST(Clip, KeepsWholeCharacters) {
  EXPECT_EQ(clip("abc", 3), "abc");
  EXPECT_EQ(clip("abcd", 3), "abc…");
  EXPECT_EQ(clip("aéé", 4), "aé…");
  EXPECT_EQ(clip("😀", 3), "…");
}

}  // namespace
}  // namespace postrider::json_schema
