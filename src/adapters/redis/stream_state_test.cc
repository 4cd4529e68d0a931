#include "adapters/redis/stream_state.h"

#include <gtest/gtest.h>

namespace postrider::redis {
namespace {

using Kind = Reply::Kind;

Reply text(std::string value) { return {.kind = Kind::text, .text = std::move(value)}; }
Reply number(std::int64_t value) { return {.kind = Kind::integer, .integer = value}; }
Reply array(std::vector<Reply> items) { return {.kind = Kind::array, .items = std::move(items)}; }

TEST(StreamId, IsParsedAndCompared) {
  EXPECT_EQ(StreamId::parse("12-3"), (StreamId{12, 3}));
  EXPECT_EQ(StreamId::parse("18446744073709551615-18446744073709551615")->to_string(),
            "18446744073709551615-18446744073709551615");
  EXPECT_LT(*StreamId::parse("9-99"), *StreamId::parse("10-0"));
  for (const char* bad :
       {"", "-", "1", "1-", "-1", "1-2-3", "a-b", " 1-2", "99999999999999999999-0"}) {
    EXPECT_FALSE(StreamId::parse(bad)) << bad;
  }
}

TEST(StreamState, GroupsAreRead) {
  const std::vector<GroupState> groups = read_groups(array({
      array({text("name"), text("g"), text("consumers"), number(1), text("pending"), number(3),
             text("last-delivered-id"), text("5-1"), text("entries-read"), number(9), text("lag"),
             number(4)}),
      array({text("name"),
             text("old"),
             text("pending"),
             number(0),
             text("last-delivered-id"),
             text("0-0"),
             text("lag"),
             {}}),
  }));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "g");
  EXPECT_EQ(groups[0].pending, 3u);
  EXPECT_EQ(groups[0].last_delivered, (StreamId{5, 1}));
  EXPECT_EQ(groups[0].lag, 4u);
  EXPECT_EQ(groups[1].lag, std::nullopt);
}

TEST(StreamState, TheLowestPendingIdIsRead) {
  EXPECT_EQ(lowest_pending(array({number(2), text("5-1"), text("6-1"), array({})})),
            (StreamId{5, 1}));
  EXPECT_EQ(lowest_pending(array({number(0), {}, {}, {}})), std::nullopt);
}

TEST(StreamState, TheAgeOfAnEntryComesFromItsId) {
  const Reply time = array({text("1700000010"), text("500000")});
  EXPECT_EQ(age_of({1'700'000'009'000, 7}, time), Millis{1'500});
  EXPECT_EQ(age_of({1'700'000'011'000, 7}, time), Millis{0});  // The clock was set back.
  EXPECT_EQ(age_of({1, 1}, time), std::nullopt);
  EXPECT_EQ(age_of({1'700'000'009'000, 7}, {}), std::nullopt);
}

TEST(StreamState, NothingUnreadOrUnacknowledgedIsBelowTheFloor) {
  const GroupState ahead{"ahead", 0, {20, 0}, 0};
  const GroupState behind{"behind", 0, {10, 0}, 5};
  const GroupState busy{"busy", 2, {30, 0}, 0};
  EXPECT_EQ(trim_floor({ahead}, {std::nullopt}), (StreamId{20, 0}));
  EXPECT_EQ(trim_floor({ahead, behind}, {std::nullopt, std::nullopt}), (StreamId{10, 0}));
  EXPECT_EQ(trim_floor({ahead, busy}, {std::nullopt, StreamId{7, 0}}), (StreamId{7, 0}));
  EXPECT_EQ(trim_floor({ahead, busy}, {std::nullopt, std::nullopt}), std::nullopt);
  EXPECT_EQ(trim_floor({}, {}), std::nullopt);
}

}  // namespace
}  // namespace postrider::redis
