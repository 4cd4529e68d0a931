#include "engine/alerts/alert_text.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, UsesTheLargestUnitThatIsExact) {
  EXPECT_EQ(duration_text(60min), "60 minutes");
  EXPECT_EQ(duration_text(2min), "2 minutes");
  EXPECT_EQ(duration_text(1min), "1 minute");
  EXPECT_EQ(duration_text(90s), "90 s");
  EXPECT_EQ(duration_text(1s), "1 s");
  EXPECT_EQ(duration_text(1'500ms), "1500 ms");
  EXPECT_EQ(duration_text(0ms), "0 ms");
}

TEST(PercentageOf, HasAtMostThreeDecimals) {
  EXPECT_EQ(percentage_of({.total = 4, .part = 1}), 25.0);
  EXPECT_EQ(percentage_of({.total = 3, .part = 2}), 66.667);
  EXPECT_EQ(percentage_of({.total = 3, .part = 3}), 100.0);
  EXPECT_EQ(percentage_of({.total = 0, .part = 0}), 0.0);
}

TEST(ShareText, ShowsTheCountsAndThePercentage) {
  EXPECT_EQ(share_text({.total = 12, .part = 3}, "attempts"), "3 of 12 attempts (25 %)");
  EXPECT_EQ(share_text({.total = 7, .part = 1}, "deliveries"), "1 of 7 deliveries (14.286 %)");
  EXPECT_EQ(share_text({}, "attempts"), "0 of 0 attempts (0 %)");
}

}  // namespace
}  // namespace postrider
