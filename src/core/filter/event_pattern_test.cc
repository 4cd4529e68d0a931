#include "core/filter/event_pattern.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

bool matches(std::string_view pattern, std::string_view event_type) {
  const std::optional<EventPattern> parsed = EventPattern::parse(pattern);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && parsed->matches(event_type);
}

TEST(EventType, ConsistsOfPartsBetweenDots) {
  for (const std::string_view text : {"a", "swap", "swap.created", "swap.leg.created", "A-b_9.Z"}) {
    EXPECT_TRUE(is_event_type(text)) << text;
  }
  for (const std::string_view text :
       {"", ".", ".swap", "swap.", "swap..created", "swap created", "*", "swap.*", "swap/created",
        "swap:created", "sw\xc3\xa4p", "a\r\nb"}) {
    EXPECT_FALSE(is_event_type(text)) << text;
  }
  EXPECT_FALSE(is_event_type(std::string_view{"a\0b", 3}));
}

TEST(EventType, HasAtMost256Characters) {
  EXPECT_TRUE(is_event_type(std::string(256, 'a')));
  EXPECT_FALSE(is_event_type(std::string(257, 'a')));
}

TEST(EventPattern, ExactNameMatchesOnlyItself) {
  EXPECT_TRUE(matches("swap.created", "swap.created"));
  EXPECT_FALSE(matches("swap.created", "swap.create"));
  EXPECT_FALSE(matches("swap.created", "swap.created.late"));
  EXPECT_FALSE(matches("swap.created", "Swap.created"));
}

TEST(EventPattern, PrefixMatchesEveryLevelBelowButNotItself) {
  EXPECT_TRUE(matches("swap.*", "swap.created"));
  EXPECT_TRUE(matches("swap.*", "swap.leg.created"));
  EXPECT_FALSE(matches("swap.*", "swap"));
  EXPECT_FALSE(matches("swap.*", "swap."));
  EXPECT_FALSE(matches("swap.*", "swapper.created"));
  EXPECT_TRUE(matches("swap.leg.*", "swap.leg.created"));
  EXPECT_FALSE(matches("swap.leg.*", "swap.created"));
}

TEST(EventPattern, StarMatchesEverything) {
  EXPECT_TRUE(matches("*", "swap"));
  EXPECT_TRUE(matches("*", "swap.leg.created"));
}

TEST(EventPattern, StarMustBeAloneOrTheLastPart) {
  for (const std::string_view text : {"", "**", "swap*", "*.created", "swap.*.created", ".*", "*.*",
                                      "swap.**", "swap..*", "swap.* "}) {
    EXPECT_FALSE(EventPattern::parse(text)) << text;
  }
  EXPECT_TRUE(EventPattern::parse(std::string(254, 'a') + ".*"));
  EXPECT_FALSE(EventPattern::parse(std::string(255, 'a') + ".*"));
}

TEST(EventPattern, KeepsItsText) {
  EXPECT_EQ(EventPattern::parse("swap.*")->text(), "swap.*");
  EXPECT_EQ(EventPattern::parse("swap.*"), EventPattern::parse("swap.*"));
  EXPECT_NE(EventPattern::parse("swap.*"), EventPattern::parse("*"));
}

}  // namespace
}  // namespace postrider
