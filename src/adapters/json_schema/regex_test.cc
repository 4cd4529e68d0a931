#include "adapters/json_schema/regex.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace postrider::json_schema {
namespace {

std::string fault_of(std::string_view pattern) {
  const auto regex = Regex::compile(pattern);
  return regex ? "none" : regex.error().message;
}

bool matches(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::compile(pattern);
  return regex && (*regex)->search(text).found;
}

/// Random, so that the automaton has another state for nearly every byte.
std::string random_letters(std::size_t count) {
  SplitMix64 random{7};
  std::string text;
  for (std::size_t index = 0; index < count; ++index) {
    text += random.below(2) == 0 ? 'a' : 'b';
  }
  return text;
}

TEST(Regex, MatchesCodePointsAnywhere) {
  EXPECT_TRUE(matches("^.$", "ä"));
  EXPECT_TRUE(matches("^[ä-ü]+$", "äöü"));
  EXPECT_TRUE(matches("^😀$", "😀"));
  EXPECT_TRUE(matches(R"(^\ud83d\ude00$)", "😀"));
  EXPECT_TRUE(matches("b", "abc"));
  EXPECT_FALSE(matches("^b", "abc"));
  EXPECT_FALSE(matches("a$", "a\n"));
  EXPECT_TRUE(matches(R"(^\p{Lu}\p{L}+$)", "Ärger"));
  EXPECT_TRUE(matches(R"(^a\sb$)", "a\vb"));
  EXPECT_FALSE(matches(R"(\S)", " \t\n\v\f\r"));
  EXPECT_TRUE(matches("a", std::string_view{"\0a", 2}));
  EXPECT_TRUE(matches("[^]", "\n"));
  EXPECT_FALSE(matches("[]", "a"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Regex, RefusesLargeAndInvalidPatterns) {
  EXPECT_EQ(fault_of("(a"), "is not a regular expression that RE2 supports (missing ): (a).");
  EXPECT_EQ(fault_of(std::string(512, 'a')), "none");
  EXPECT_EQ(fault_of(std::string(513, 'a')), "must have at most 512 bytes.");
  for (const std::string_view large : {R"(\p{L}{20}x)", "([ab]?){900}a{900}", R"([^c]{1000})"}) {
    EXPECT_TRUE(fault_of(large).starts_with("is too complex: RE2 needs more than 4000 "))
        << large << " " << fault_of(large);
  }
  EXPECT_NE(fault_of("((a{100}){100}){100}"), "none");
  EXPECT_NE(fault_of("a{1001}"), "none");
  EXPECT_NE(fault_of("*"), "none");
  EXPECT_NE(fault_of("\\"), "none");
}

TEST(Regex, CountsLittleWhereBacktrackingWouldExplode) {
  const std::string spaces = "x" + std::string(240'000, ' ') + "x";
  const std::string letters(240'000, 'x');
  for (const auto& [pattern, text] :
       {std::pair{R"(^\s+|\s+$)", &spaces}, std::pair{"(x+x+)+y", &letters},
        std::pair{"^(x|x)*y$", &letters}}) {
    const auto regex = Regex::compile(pattern);
    ASSERT_TRUE(regex) << pattern;
    const Regex::Search search = (*regex)->search(*text);
    EXPECT_FALSE(search.found) << pattern;
    EXPECT_LT(search.steps, text->size() / 2) << pattern;
    EXPECT_GE((*regex)->search_steps_max(*text), search.steps) << pattern;
  }
}

TEST(Regex, CountsTheWorkOfAnAutomatonThatDoesNotFitIntoMemory) {
  const auto regex = Regex::compile("^[ab]*a[ab]{300}c");
  ASSERT_TRUE(regex);
  const std::string text = random_letters(20'000);
  const Regex::Search search = (*regex)->search(text);
  EXPECT_FALSE(search.found);
  EXPECT_GT(search.steps, text.size() * 100);
  const Regex::Search cheap = (*regex)->search("ccc");
  EXPECT_LT(cheap.steps, 100U) << "the extra work of one search is not counted for the next";
}

TEST(Regex, CountsManyShortSearchesThatDiscardTheAutomaton) {
  const auto regex = Regex::compile("[ab]*a[ab]{100}c");
  ASSERT_TRUE(regex);
  const std::string text = random_letters(100'000);
  std::uint64_t steps = 0;
  for (std::size_t at = 0; at < text.size(); at += 100) {
    steps += (*regex)->search(std::string_view{text}.substr(at, 100)).steps;
  }
  EXPECT_GT(steps, text.size() * 50);
}

}  // namespace
}  // namespace postrider::json_schema
