#include "core/base/range_time.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

const WallTime noon = *parse_rfc3339("2024-02-29T12:00:00Z");

TEST(RangeTime, DateMeansItsWholeDay) {
  EXPECT_EQ(parse_range_start("2024-02-29"), parse_rfc3339("2024-02-29T00:00:00Z"));
  EXPECT_EQ(parse_range_end("2024-02-29"), parse_rfc3339("2024-03-01T00:00:00Z"));
  EXPECT_EQ(parse_range_end("2024-12-31"), parse_rfc3339("2025-01-01T00:00:00Z"));
}

TEST(RangeTime, TimeIsTakenAsItIs) {
  for (const char* text : {"2024-02-29T12:00:00Z", "2024-02-29T14:00:00.000+02:00"}) {
    EXPECT_EQ(parse_range_start(text), noon) << text;
    EXPECT_EQ(parse_range_end(text), noon) << text;
  }
}

TEST(RangeTime, LastDayOfTheCalendarDoesNotOverflow) {
  EXPECT_EQ(parse_range_end("9999-12-31"), wall_time_max);
  EXPECT_EQ(parse_range_start("0000-01-01"), wall_time_min);
}

TEST(RangeTime, RejectsEverythingElse) {
  for (const char* text :
       {"", "2024", "2024-02", "2024-02-30", "2024-13-01", "2024-2-9", "24-02-2009", "2024-02-29 ",
        " 2024-02-29", "2024-02-29T", "2024-02-29Z", "20240229", "yesterday", "2024/02/29",
        "2024-02-29T12:00", "-024-02-29"}) {
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
    EXPECT_EQ(parse_range_start(text), std::nullopt) << text;
    EXPECT_EQ(parse_range_end(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace postrider
