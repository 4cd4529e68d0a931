#include "core/base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(Rfc3339, FormatsExtremeTimes) {
  struct Case {
    std::int64_t unix_ms;
    std::string_view want;
  };
  const Case cases[] = {
      {0, "1970-01-01T00:00:00.000Z"},
      {-1, "1969-12-31T23:59:59.999Z"},
      {-1'000, "1969-12-31T23:59:59.000Z"},
      {1'769'903'999'123, "2026-01-31T23:59:59.123Z"},
      {951'782'400'000, "2000-02-29T00:00:00.000Z"},
      {4'107'542'400'000, "2100-03-01T00:00:00.000Z"},
      {-62'167'219'200'000, "0000-01-01T00:00:00.000Z"},
      {-62'167'219'200'001, "0000-01-01T00:00:00.000Z"},
      {253'402'300'799'999, "9999-12-31T23:59:59.999Z"},
      {253'402'300'800'000, "9999-12-31T23:59:59.999Z"},
      {INT64_MAX, "9999-12-31T23:59:59.999Z"},
      {INT64_MIN, "0000-01-01T00:00:00.000Z"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(to_rfc3339(wall_from_unix_ms(c.unix_ms)), c.want) << c.unix_ms;
  }
}

TEST(Rfc3339, ParsesEveryAllowedForm) {
  struct Case {
    std::string_view text;
    std::int64_t want_ms;
  };
  const Case cases[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01t00:00:00z", 0},
      {"1970-01-01 00:00:00Z", 0},
      {"1970-01-01T00:00:00-00:00", 0},
      {"1970-01-01T00:00:00.1Z", 100},
      {"1970-01-01T00:00:00.12Z", 120},
      {"1970-01-01T00:00:00.123456789123456789Z", 123},
      {"1970-01-01T00:00:00.0009Z", 0},
      {"1969-12-31T23:59:59.999Z", -1},
      {"1970-01-01T01:30:00+01:30", 0},
      {"1969-12-31T22:30:00-01:30", 0},
      {"1970-01-01T23:59:00+23:59", 0},
      {"2016-12-31T23:59:60Z", 1'483'228'800'000},  // 2017-01-01T00:00:00Z
      {"2016-12-31T23:59:60.250Z", 1'483'228'800'250},
      {"1990-12-31T15:59:60-08:00", 662'688'000'000},
      {"2000-02-29T00:00:00Z", 951'782'400'000},
      {"0000-01-01T00:00:00Z", -62'167'219'200'000},
      {"0000-02-29T00:00:00Z", -62'162'121'600'000},
      {"0000-01-01T00:00:00+23:59", -62'167'305'540'000},
      {"9999-12-31T23:59:59.999Z", 253'402'300'799'999},
      {"9999-12-31T23:59:60-23:59", 253'402'387'140'000},
  };
  for (const Case& c : cases) {
    const std::optional<WallTime> parsed = parse_rfc3339(c.text);
    ASSERT_TRUE(parsed) << c.text;
    EXPECT_EQ(to_unix_ms(*parsed), c.want_ms) << c.text;
  }
}

TEST(Rfc3339, RejectsEverythingElse) {
  const std::string_view texts[] = {
      "",
      "1970",
      "1970-01-01",
      "1970-01-01T00:00:00",
      "1970-01-01T00:00Z",
      "1970-01-01T00:00:00.Z",
      "1970-01-01T00:00:00,5Z",
      "1970-01-01T00:00:00Z ",
      " 1970-01-01T00:00:00Z",
      "1970-01-01T00:00:00ZZ",
      "1970-01-01_00:00:00Z",
      "1970-1-01T00:00:00Z",
      "+970-01-01T00:00:00Z",
      "19700-01-01T00:00:00Z",
      "1970-00-01T00:00:00Z",
      "1970-13-01T00:00:00Z",
      "1970-01-00T00:00:00Z",
      "1970-01-32T00:00:00Z",
      "2023-02-29T00:00:00Z",
      "2100-02-29T00:00:00Z",
      "1970-01-01T24:00:00Z",
      "1970-01-01T00:60:00Z",
      "1970-01-01T00:00:61Z",
      "1970-01-01T00:00:00+24:00",
      "1970-01-01T00:00:00+00:60",
      "1970-01-01T00:00:00+0000",
      "1970-01-01T00:00:00+00",
      "1970-01-01T00:00:00GMT",
      "1970-01-01T0x:00:00Z",
      std::string_view{"1970-01-01T00:00:00Z\0", 21},
  };
  for (const std::string_view text : texts) {
    EXPECT_FALSE(parse_rfc3339(text)) << '"' << text << '"';
  }
}

RC_GTEST_PROP(Rfc3339, RoundTripsEveryMillisecondInItsRange, ()) {
  const auto unix_ms = *rc::gen::inRange<std::int64_t>(-62'167'219'200'000, 253'402'300'800'000);
  const WallTime time = wall_from_unix_ms(unix_ms);
  RC_ASSERT(parse_rfc3339(to_rfc3339(time)) == time);
}

RC_GTEST_PROP(Rfc3339, TextSortsLikeTime, ()) {
  const auto one = *rc::gen::inRange<std::int64_t>(-62'167'219'200'000, 253'402'300'800'000);
  const auto other = *rc::gen::inRange<std::int64_t>(-62'167'219'200'000, 253'402'300'800'000);
  RC_ASSERT((one < other) ==
            (to_rfc3339(wall_from_unix_ms(one)) < to_rfc3339(wall_from_unix_ms(other))));
}

RC_GTEST_PROP(Rfc3339, ParsesAnyTextWithoutCrashing, (const std::string& text)) {
  const std::optional<WallTime> parsed = parse_rfc3339(text);
  RC_ASSERT(!parsed || text.size() >= 20);
}

TEST(WallTimes, SecondsRoundDownEvenBefore1970) {
  EXPECT_EQ(to_unix_seconds(wall_from_unix_ms(1'999)), 1);
  EXPECT_EQ(to_unix_seconds(wall_from_unix_ms(-1)), -1);
  EXPECT_EQ(to_unix_seconds(wall_from_unix_ms(-1'000)), -1);
  EXPECT_EQ(to_unix_seconds(wall_from_unix_ms(-1'001)), -2);
}

TEST(WallTimes, LaterStaysWithinTheSupportedRange) {
  const WallTime epoch{};
  EXPECT_EQ(later(epoch, 5s), epoch + 5s);
  EXPECT_EQ(later(epoch - 10s, 5s), epoch - 5s);
  EXPECT_EQ(later(epoch, Millis::max()), wall_time_max);
  EXPECT_EQ(later(wall_time_max - 1ms, 1ms), wall_time_max);
  EXPECT_EQ(later(wall_time_max - 1ms, 2ms), wall_time_max);
  EXPECT_EQ(later(WallTime::max(), Millis::max()), wall_time_max);
  EXPECT_EQ(later(WallTime::min(), Millis::max()), wall_time_max);
  EXPECT_EQ(later(WallTime::min(), 0ms), wall_time_min);
}

}  // namespace
}  // namespace postrider
