#include "core/base/wildcard_set.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

std::vector<Wildcard> wildcards(const std::vector<std::string>& patterns) {
  std::vector<Wildcard> made;
  for (const std::string& pattern : patterns) {
    if (Result<Wildcard> wildcard = Wildcard::parse(pattern)) {
      made.push_back(*std::move(wildcard));
    }
  }
  return made;
}

std::uint64_t expected(const std::vector<Wildcard>& all, std::string_view text) {
  std::uint64_t matched = 0;
  for (std::size_t index = 0; index < all.size(); ++index) {
    matched |= std::uint64_t{all[index].matches(text)} << index;
  }
  return matched;
}

TEST(WildcardSet, TellsWhichWildcardsMatch) {
  const WildcardSet set{
      wildcards({"*", "", "a", "a*", "a*a", "*.png", "dir/*.png", R"(\*)", "*ä*"})};
  EXPECT_EQ(set.match(""), 0b000000011u);
  EXPECT_EQ(set.match("a"), 0b000001101u);
  EXPECT_EQ(set.match("aba"), 0b000011001u);
  EXPECT_EQ(set.match("dir/a.png"), 0b001100001u);
  EXPECT_EQ(set.match("*"), 0b010000001u);
  EXPECT_EQ(set.match("Bär"), 0b100000001u);
  EXPECT_EQ(set.match(std::string_view{"\0\xFF", 2}), 0b000000001u) << "bytes that no wildcard has";
}

TEST(WildcardSet, MayBeEmpty) {
  const WildcardSet set;
  EXPECT_TRUE(set.is_empty());
  EXPECT_EQ(set.match("text"), 0u);
  EXPECT_EQ(WildcardSet{std::vector<Wildcard>{}}.match(""), 0u);
}

TEST(WildcardSet, TakesAsManyWildcardsAsBits) {
  std::vector<std::string> patterns;
  for (std::size_t index = 0; index < WildcardSet::size_max; ++index) {
    patterns.push_back("*" + std::to_string(index) + ";*");
  }
  const WildcardSet set{wildcards(patterns)};
  EXPECT_EQ(set.match("63;"), std::uint64_t{1} << 63 | std::uint64_t{1} << 3);
  EXPECT_EQ(set.words(), 4u) << "118 digits, 64 semicolons and 64 first states";
}

TEST(WildcardSet, MatchesAPatternLongerThanAWord) {
  const std::string part(200, 'a');
  const WildcardSet set{wildcards({"*" + part + "b*", part})};
  const std::string text(1'000, 'a');
  EXPECT_EQ(set.match(text), 0u);
  EXPECT_EQ(set.match(text + "bc"), 1u);
  EXPECT_EQ(set.match(part), 2u);
}

RC_GTEST_PROP(WildcardSet, AgreesWithTheSingleWildcards, ()) {
  const auto text_of = [](const std::string& alphabet) {
    return *rc::gen::container<std::string>(rc::gen::elementOf(alphabet));
  };
  std::vector<std::string> patterns;
  for (int count = *rc::gen::inRange(0, 20); count > 0; --count) {
    patterns.push_back(text_of("ab*"));
  }
  const std::vector<Wildcard> all = wildcards(patterns);
  const std::string text = text_of("abc");
  RC_ASSERT(WildcardSet{all}.match(text) == expected(all, text));
}

}  // namespace
}  // namespace postrider
