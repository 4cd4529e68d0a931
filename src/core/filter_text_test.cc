// The small parts a filter is made of: numbers, case, wildcards, the walk over JSON.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/decimal.h"
#include "core/json_cursor.h"
#include "core/letter_case.h"
#include "core/wildcard.h"

namespace postrider {
namespace {

TEST(JsonNumbers, AreComparedByValue) {
  struct Case {
    std::string_view smaller;
    std::string_view larger;
  };
  constexpr Case cases[] = {
      {"-1", "0"},
      {"0", "1"},
      {"-2", "-1"},
      {"9", "10"},
      {"0.1", "0.10000000000000000000000001"},
      {"9007199254740992", "9007199254740993"},
      {"-1e400", "1e-400"},
      {"1e-400", "1e400"},
      {"-1", "-1e-400"},
      {"0.09", "0.1"},
      {"99999999999999999999999998", "99999999999999999999999999"},
      {"1e99999", "1e100000"},
      {"1e99", "1e99999999999999999999999999"},
      {"1e-99999999999999999999999999", "1e-99"},
      {"-5.0e9", "5.0e9"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(compare_json_numbers(c.smaller, c.larger) < 0) << c.smaller << " " << c.larger;
    EXPECT_TRUE(compare_json_numbers(c.larger, c.smaller) > 0) << c.smaller << " " << c.larger;
  }
}

TEST(JsonNumbers, AreEqualHoweverTheyAreSpelled) {
  const std::vector<std::vector<std::string_view>> spellings = {
      {"300", "300.0", "3.0e2", "3E+2", "30000e-2", "0.3e3", "0.0003e6"},
      {"0", "-0", "0.0", "0e99", "-0.000e-5"},
      {"-0.5", "-5e-1", "-0.50", "-50E-2"},
  };
  for (const auto& same : spellings) {
    for (const std::string_view left : same) {
      for (const std::string_view right : same) {
        EXPECT_TRUE(compare_json_numbers(left, right) == 0) << left << " " << right;
      }
    }
  }
}

RC_GTEST_PROP(JsonNumbers, CompareLikeIntegersDo, (std::int64_t left, std::int64_t right)) {
  RC_ASSERT(compare_json_numbers(std::to_string(left), std::to_string(right)) == (left <=> right));
}

TEST(LetterCase, IsIgnoredInLatinGreekAndCyrillic) {
  EXPECT_TRUE(equals_ignoring_case("Alice", "aLICE"));
  EXPECT_TRUE(equals_ignoring_case("ÄÖÜ Ÿ Š Ł", "äöü ÿ š ł"));
  EXPECT_TRUE(equals_ignoring_case("ΑΘΉΝΑΣ", "αθήνας"));
  EXPECT_TRUE(equals_ignoring_case("МОСКВА ЁЖ", "москва ёж"));
}

TEST(LetterCase, KeepsDifferentLettersApart) {
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("@[`{", "`{@["));
  EXPECT_FALSE(equals_ignoring_case("ä", "ö"));
  EXPECT_FALSE(equals_ignoring_case("×", "÷")) << "signs between the letters";
  EXPECT_FALSE(equals_ignoring_case("ab", "ä"));
  EXPECT_FALSE(equals_ignoring_case("ß", "SS"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_TRUE(equals_ignoring_case("東京", "東京"));
}

TEST(Wildcards, StandForAnyCharacters) {
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

TEST(Wildcards, WithTwoStarsOrOtherEscapesAreRefused) {
  for (const std::string_view pattern : {"**", "a**b", "a***", "\\", "a\\n", "\\a"}) {
    EXPECT_FALSE(Wildcard::parse(pattern).has_value()) << pattern;
  }
  EXPECT_TRUE(Wildcard::parse(R"(*\**)").has_value()) << "a star between two wildcards";
}

TEST(Wildcards, NeverGoBack) {
  std::string pattern = "*";
  for (int i = 0; i < 200; ++i) {
    pattern += "a*";
  }
  pattern += "b";
  const std::string text(100'000, 'a');
  EXPECT_FALSE(Wildcard::parse(pattern)->matches(text));
  EXPECT_TRUE(Wildcard::parse(pattern)->matches(text + "b"));
}

// Star by star, every length: slow and plain.
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

std::string spell(const std::vector<std::uint8_t>& draws, std::string_view alphabet) {
  std::string text;
  for (const std::uint8_t draw : draws) {
    text += alphabet[draw % alphabet.size()];
  }
  return text;
}

RC_GTEST_PROP(Wildcards, MatchAsTheirDefinitionSays,
              (std::vector<std::uint8_t> pattern_draws, std::vector<std::uint8_t> text_draws)) {
  const std::string pattern = spell(pattern_draws, "ab*").substr(0, 12);
  const std::string text = spell(text_draws, "ab").substr(0, 12);
  const Result<Wildcard> wildcard = Wildcard::parse(pattern);
  RC_ASSERT(wildcard.has_value() == (pattern.find("**") == std::string::npos));
  if (wildcard) {
    RC_ASSERT(wildcard->matches(text) == naive_match(pattern, text));
  }
}

TEST(JsonCursorWalk, VisitsMembersAndElementsInOrder) {
  JsonCursor cursor{R"( { "a" : [ 1 , "x\"]" , {"n":{}} , [] ] ,"b":true,"\u0063" : -1.5e3 } )"};
  EXPECT_EQ(cursor.peek(), '{');
  cursor.enter();
  EXPECT_EQ(cursor.next_key(), "a");
  cursor.enter();
  EXPECT_TRUE(cursor.next_element());
  EXPECT_EQ(cursor.take_scalar(), "1");
  EXPECT_TRUE(cursor.next_element());
  EXPECT_EQ(cursor.take_scalar(), R"("x\"]")");
  EXPECT_TRUE(cursor.next_element());
  cursor.skip_value();
  EXPECT_TRUE(cursor.next_element());
  EXPECT_EQ(cursor.peek(), '[');
  cursor.skip_value();
  EXPECT_FALSE(cursor.next_element());
  EXPECT_EQ(cursor.next_key(), "b");
  EXPECT_EQ(cursor.take_scalar(), "true");
  EXPECT_EQ(cursor.next_key(), R"(\u0063)");
  EXPECT_EQ(cursor.take_scalar(), "-1.5e3");
  EXPECT_EQ(cursor.next_key(), std::nullopt);
  EXPECT_EQ(cursor.peek(), '\0');
}

RC_GTEST_PROP(JsonCursorWalk, ComesToAnEndWhateverTheText, (std::vector<std::uint8_t> draws)) {
  const std::string text = spell(draws, "{}[]\",:\\a1 ");
  JsonCursor cursor{text};
  for (std::size_t steps = 0; cursor.peek() != '\0'; ++steps) {
    RC_ASSERT(steps <= text.size());
    cursor.skip_value();
  }
}

}  // namespace
}  // namespace postrider
