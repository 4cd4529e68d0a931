#include "core/base/suggestion.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

TEST(EditDistance, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("serve", "serve"), 0u);
  EXPECT_EQ(edit_distance("serv", "serve"), 1u);
  EXPECT_EQ(edit_distance("esrve", "serve"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, SwapsNeighboursOnly) {
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
  EXPECT_EQ(edit_distance("abc", "cba"), 2u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u) << "no insertion between two swapped characters";
}

TEST(Closest, ReturnsNulloptIfNothingIsSimilar) {
  EXPECT_EQ(closest("bench", {"serve", "send"}), std::nullopt);
  EXPECT_EQ(closest("x", {}), std::nullopt);
  EXPECT_EQ(closest("sed", {"serve", "send"}), "send");
}

TEST(Closest, AllowsAThirdOfTheWordAndAtLeastOneCharacterToDiffer) {
  EXPECT_EQ(closest("abXdeX", {"abcdef"}), "abcdef");
  EXPECT_EQ(closest("XbXdeX", {"abcdef"}), std::nullopt);
  EXPECT_EQ(closest("abXdX", {"abcde"}), std::nullopt) << "a third of five is one";
  EXPECT_EQ(closest("aX", {"ab"}), "ab");
  EXPECT_EQ(closest("XX", {"ab"}), std::nullopt);
}

TEST(Closest, PrefersTheFirstOfEquallyCloseWords) {
  EXPECT_EQ(closest("timeout", {"timeouts", "timeout", "timeot"}), "timeout");
  EXPECT_EQ(closest("lomit", {"vomit", "limit"}), "vomit");
  EXPECT_EQ(closest("lomit", {"limit", "vomit"}), "limit");
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndZeroOnlyForTheSameText,
              (const std::string& a, const std::string& b)) {
  const std::size_t distance = edit_distance(a, b);
  RC_ASSERT(distance == edit_distance(b, a));
  RC_ASSERT((distance == 0) == (a == b));
  RC_ASSERT(distance <= std::max(a.size(), b.size()));
  RC_ASSERT(distance >= std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
}

RC_GTEST_PROP(EditDistance, GrowsByAtMostOneWithEachEdit,
              (const std::string& text, std::uint8_t place, char character)) {
  std::string edited = text;
  edited.insert(place % (text.size() + 1), 1, character);
  RC_ASSERT(edit_distance(text, edited) == 1u);
  edited = text + "end";
  std::swap(edited[place % (edited.size() - 1)], edited[place % (edited.size() - 1) + 1]);
  RC_ASSERT(edit_distance(text + "end", edited) <= 1u);
}

}  // namespace
}  // namespace postrider
