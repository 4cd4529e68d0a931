#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/policy/retry.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

const WallTime noon = *parse_rfc3339("2026-01-31T12:00:00Z");

TEST(RetryAfter, ParsesSeconds) {
  EXPECT_EQ(parse_retry_after("0", noon), 0ms);
  EXPECT_EQ(parse_retry_after("120", noon), 120s);
  EXPECT_EQ(parse_retry_after("000120", noon), 120s);
  EXPECT_EQ(parse_retry_after(" \t120 ", noon), 120s);
}

TEST(RetryAfter, HugeValuesSaturate) {
  EXPECT_EQ(parse_retry_after("31536000", noon), retry_after_max);
  EXPECT_EQ(parse_retry_after("31535999", noon), retry_after_max - 1s);
  EXPECT_EQ(parse_retry_after("31536001", noon), retry_after_max);
  EXPECT_EQ(parse_retry_after("18446744073709551617", noon), retry_after_max);
  EXPECT_EQ(parse_retry_after(std::string(10'000, '9'), noon), retry_after_max);
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", noon), retry_after_max);
}

TEST(RetryAfter, ParsesAllThreeDateFormats) {
  EXPECT_EQ(parse_retry_after("Sat, 31 Jan 2026 12:00:07 GMT", noon), 7s);
  EXPECT_EQ(parse_retry_after("Saturday, 31-Jan-26 12:00:07 GMT", noon), 7s);
  EXPECT_EQ(parse_retry_after("Sat Jan 31 12:00:07 2026", noon), 7s);
  EXPECT_EQ(parse_retry_after("Sun Feb  1 12:00:00 2026", noon), 24h);
  EXPECT_EQ(parse_retry_after("Mon, 31 Jan 2026 12:00:07 GMT", noon), 7s) << "the wrong weekday";
  EXPECT_EQ(parse_retry_after("Sat, 31 Jan 2026 12:00:60 GMT", noon), 60s) << "a leap second";
  EXPECT_EQ(parse_retry_after("Sat, 31 Jan 2026 12:00:07 GMT", noon + 250ms), 6'750ms);
}

TEST(RetryAfter, PastDateMeansNow) {
  EXPECT_EQ(parse_retry_after("Sat, 31 Jan 2026 11:59:59 GMT", noon), 0ms);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", noon), 0ms);
  EXPECT_EQ(parse_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", noon), 0ms);
  EXPECT_EQ(parse_retry_after("Sun Nov  6 08:49:37 1994", noon), 0ms);
  EXPECT_EQ(parse_retry_after("Sat, 01 Jan 0000 00:00:00 GMT", noon), 0ms);
}

TEST(RetryAfter, TwoDigitYearIsWithinFiftyYears) {
  EXPECT_EQ(parse_retry_after("Friday, 31-Jan-76 12:00:00 GMT", noon), retry_after_max);  // 2076
  EXPECT_EQ(parse_retry_after("Monday, 31-Jan-77 12:00:00 GMT", noon), 0ms);              // 1977
  const WallTime century_end = *parse_rfc3339("2099-12-31T23:59:59Z");
  EXPECT_EQ(parse_retry_after("Friday, 01-Jan-00 00:00:00 GMT", century_end), 1s);  // 2100
}

TEST(RetryAfter, RejectsInvalidValues) {
  const std::string_view texts[] = {
      "",
      " ",
      "-1",
      "+1",
      "1.5",
      "1e3",
      "0x10",
      "120s",
      "1 2",
      "soon",
      "٣",
      "Sat, 31 Jan 2026 12:00:07",
      "Sat, 31 Jan 2026 12:00:07 UTC",
      "Sat, 31 Jan 2026 12:00:07 GMT+1",
      "sat, 31 jan 2026 12:00:07 gmt",
      "Sat, 32 Jan 2026 12:00:07 GMT",
      "Sat, 00 Jan 2026 12:00:07 GMT",
      "Sun, 29 Feb 2026 12:00:07 GMT",
      "Sat, 31 Foo 2026 12:00:07 GMT",
      "Xyz, 31 Jan 2026 12:00:07 GMT",
      "Sat, 31 Jan 2026 24:00:07 GMT",
      "Sat, 31 Jan 2026 12:60:07 GMT",
      "Sat, 31 Jan 2026 12:00:61 GMT",
      "Sat, 1 Jan 2026 12:00:07 GMT",
      "Sat, 31 Jan 26 12:00:07 GMT",
      "Saturday, 31-Jan-2026 12:00:07 GMT",
      "Sun Feb 1 12:00:00 2026",
      "Sun Feb  1 12:00:00 2026 GMT",
      "2026-01-31T12:00:07Z",
  };
  for (const std::string_view text : texts) {
    EXPECT_FALSE(parse_retry_after(text, noon)) << '"' << text << '"';
  }
}

RC_GTEST_PROP(RetryAfter, IsNeverNegativeAndNeverExceedsTheMaximum, (const std::string& text)) {
  const Millis asked = parse_retry_after(text, noon).value_or(0ms);
  RC_ASSERT(asked >= 0ms);
  RC_ASSERT(asked <= retry_after_max);
}

RC_GTEST_PROP(RetryAfter, ParsesEveryNumberOfSeconds, (std::uint32_t seconds)) {
  const Millis want = std::min<Millis>(std::chrono::seconds{seconds}, retry_after_max);
  RC_ASSERT(parse_retry_after(std::to_string(seconds), noon) == want);
}

}  // namespace
}  // namespace postrider
