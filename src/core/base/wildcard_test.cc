#include "core/base/wildcard.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

TEST(Wildcards, MatchAnyCharacters) {
  struct Case {
    std::string_view pattern;
    std::string_view text;
    bool want;
  };
  constexpr Case cases[] = {
      {"*", "", true},
      {"*", "anything", true},
      {"", "", true},
      {"", "a", false},
      {"a", "a", true},
      {"a*", "a", true},
      {"a*a", "a", false},
      {"a*a", "aa", true},
      {"*.png", "dir/cat.png", true},
      {"*.png", "cat.pngx", false},
      {"dir/*.png", "dir/sub/cat.png", true},
      {"a*b*c", "a-b-b-c", true},
      {"a*b*c", "a-c-b", false},
      {"*ab*ab*", "abab", true},
      {"*ab*ab*", "aba", false},
      {R"(\*)", "*", true},
      {R"(\*)", "x", false},
      {R"(\\*)", R"(\end)", true},
      {R"(a\*b*)", "a*bc", true},
      {R"(a\*b*)", "aXbc", false},
      {"EventBus*", "eventbus", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Wildcard::parse(c.pattern)->matches(c.text), c.want) << c.pattern << " " << c.text;
  }
}

TEST(Wildcards, RejectAdjacentStarsAndUnknownEscapes) {
  for (const std::string_view pattern : {"**", "a**b", "a***", "\\", "a\\n", "\\a"}) {
    EXPECT_FALSE(Wildcard::parse(pattern).has_value()) << pattern;
  }
  EXPECT_TRUE(Wildcard::parse(R"(*\**)").has_value()) << "a star between two wildcards";
}

TEST(Wildcards, DoNotBacktrack) {
  std::string pattern = "*";
  for (int i = 0; i < 200; ++i) {
    pattern += "a*";
  }
  pattern += "b";
  const std::string text(100'000, 'a');
  EXPECT_FALSE(Wildcard::parse(pattern)->matches(text));
  EXPECT_TRUE(Wildcard::parse(pattern)->matches(text + "b"));
}

TEST(Wildcards, FindALongPartInALongText) {
  const Result<Wildcard> wildcard = Wildcard::parse("*" + std::string(1'000, 'a') + "b*");
  const std::string text(250'000, 'a');
  EXPECT_FALSE(wildcard->matches(text));
  EXPECT_TRUE(wildcard->matches(text + "b"));
}

// The reference implementation: tries every length for every star. Slow but obvious.
bool naive_match(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) {
    return text.empty();
  }
  if (pattern.front() == '*') {
    return naive_match(pattern.substr(1), text) ||
           (!text.empty() && naive_match(pattern, text.substr(1)));
  }
  return !text.empty() && text.front() == pattern.front() &&
         naive_match(pattern.substr(1), text.substr(1));
}

std::string random_text(const std::string& alphabet) {
  return *rc::gen::container<std::string>(rc::gen::elementOf(alphabet));
}

RC_GTEST_PROP(Wildcards, MatchLikeTheNaiveImplementation, ()) {
  const std::string pattern = random_text("ab*").substr(0, 12);
  const std::string text = random_text("ab").substr(0, 12);
  const Result<Wildcard> wildcard = Wildcard::parse(pattern);
  RC_ASSERT(wildcard.has_value() == (pattern.find("**") == std::string::npos));
  if (wildcard) {
    RC_ASSERT(wildcard->matches(text) == naive_match(pattern, text));
  }
}

}  // namespace
}  // namespace postrider
