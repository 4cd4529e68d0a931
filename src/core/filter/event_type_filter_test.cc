#include "core/filter/event_type_filter.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using Words = std::vector<std::string>;

TEST(EventTypeFilter, WithoutWordsEverythingMatches) {
  EXPECT_TRUE(admits_type({}, "order.paid"));
  EXPECT_TRUE(sort_event_type_words({}).everything);
}

TEST(EventTypeFilter, WordIsANameOrAPattern) {
  for (const std::string word : {"order", "order.paid", "order.*", "order.leg.*", "*"}) {
    EXPECT_EQ(parse_event_type_word(word), word);
  }
  for (const char* word : {"", "a b", "order.", ".*", "ord*", "*.paid", "order.*.paid", "**"}) {
    EXPECT_EQ(parse_event_type_word(word), std::nullopt) << word;
  }
}

TEST(EventTypeFilter, MatchesIfAnyWordMatches) {
  const Words words = {"order.*", "user.born"};
  EXPECT_TRUE(admits_type(words, "order.paid"));
  EXPECT_TRUE(admits_type(words, "order.leg.paid"));
  EXPECT_TRUE(admits_type(words, "user.born"));
  EXPECT_FALSE(admits_type(words, "order"));
  EXPECT_FALSE(admits_type(words, "orders.paid"));
  EXPECT_FALSE(admits_type(words, "user.borne"));
  EXPECT_TRUE(admits_type({"user.born", "*"}, "anything"));
}

TEST(EventTypeFilter, InvalidWordMatchesNothing) {
  EXPECT_FALSE(admits_type({"a b"}, "a b"));
  const EventTypeFilter filter = sort_event_type_words({"a b"});
  EXPECT_FALSE(filter.everything);
  EXPECT_TRUE(filter.names.empty());
  EXPECT_TRUE(filter.prefixes.empty());
}

TEST(EventTypeFilter, GroupsWordsByKind) {
  const EventTypeFilter filter = sort_event_type_words({"a.b", "c.*", "d"});
  EXPECT_FALSE(filter.everything);
  EXPECT_EQ(filter.names, (Words{"a.b", "d"}));
  EXPECT_EQ(filter.prefixes, (Words{"c."}));
  EXPECT_TRUE(sort_event_type_words({"a.b", "*"}).everything);
}

}  // namespace
}  // namespace postrider
