#include "core/policy/steady_wall.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

const WallTime noon = *parse_rfc3339("2026-01-31T12:00:00Z");
const MonoTime boot{1h};

TEST(SteadyWall, FollowsTheWallClockWithoutJumps) {
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  EXPECT_EQ(steady.read({noon + 1ms, boot + 1ms}), noon + 1ms);
  EXPECT_EQ(steady.read({noon + 10min, boot + 10min}), noon + 10min);
  EXPECT_EQ(steady.read({noon + 20min + 1s, boot + 20min}), noon + 20min + 1s) << "a small slew";
}

TEST(SteadyWall, CatchesUpWithAJumpForwardAtTwiceTheSpeed) {  // P9
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  EXPECT_EQ(steady.read({noon + 24h, boot}), noon) << "no time has passed";
  EXPECT_EQ(steady.read({noon + 24h + 1s, boot + 1s}), noon + 2s);
  EXPECT_EQ(steady.read({noon + 36h, boot + 12h}), noon + 24h);
  EXPECT_EQ(steady.read({noon + 48h, boot + 24h}), noon + 48h) << "caught up";
  EXPECT_EQ(steady.read({noon + 49h, boot + 25h}), noon + 49h);
}

TEST(SteadyWall, WaitsForAJumpBackAtHalfTheSpeed) {  // P9
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  EXPECT_EQ(steady.read({noon - 1h, boot}), noon);
  EXPECT_EQ(steady.read({noon - 1h + 1min, boot + 1min}), noon + 30s);
  EXPECT_EQ(steady.read({noon, boot + 1h}), noon + 30min);
  EXPECT_EQ(steady.read({noon + 1h, boot + 2h}), noon + 1h) << "the wall clock has caught up";
}

TEST(SteadyWall, ManySmallReadingsLoseNoTime) {
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  WallTime last;
  // One second in steps of 100 µs, with the wall clock a day behind.
  for (int step = 1; step <= 10'000; ++step) {
    last = steady.read({noon - 24h, boot + step * 100us});
  }
  EXPECT_EQ(last, noon + 500ms);
}

TEST(SteadyWall, StepsOfOneMicrosecondDoNotStall) {
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  WallTime last;
  for (int step = 1; step <= 10'000; ++step) {
    last = steady.read({noon - 24h, boot + step * 1us});
  }
  EXPECT_GE(last, noon + 5ms);
  EXPECT_LE(last, noon + 20ms);
}

TEST(SteadyWall, IgnoresAMonotonicClockThatStepsBack) {
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  EXPECT_EQ(steady.read({noon + 10s, boot + 10s}), noon + 10s);
  EXPECT_EQ(steady.read({noon + 5s, boot + 5s}), noon + 10s);
  EXPECT_EQ(steady.read({noon + 11s, boot + 11s}), noon + 11s);
}

TEST(SteadyWall, HandlesExtremeClocks) {
  SteadyWall steady;
  EXPECT_EQ(steady.read({WallTime::min(), MonoTime{}}), wall_time_min);
  EXPECT_EQ(steady.read({WallTime::max(), MonoTime{} + 1s}), wall_time_min + 2s);
  EXPECT_GT(steady.read({WallTime::max(), MonoTime::max()}), wall_time_min + 2s);
  SteadyWall late;
  EXPECT_EQ(late.read({WallTime::max(), MonoTime{}}), wall_time_max);
}

RC_GTEST_PROP(SteadyWall, RunsBetweenHalfAndTwiceTheMonotonicSpeed, ()) {
  SteadyWall steady;
  const WallTime first = steady.read({noon, boot});
  MonoTime mono = boot;
  WallTime last = first;
  const auto steps = *rc::gen::container<std::vector<std::pair<std::int64_t, std::int64_t>>>(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(0, 10'000'000),
                    rc::gen::inRange<std::int64_t>(-100'000'000, 100'000'000)));
  for (const auto& [passed_us, wall_ms] : steps) {
    mono += Micros{passed_us};
    const WallTime now = steady.read({noon + Millis{wall_ms}, mono});
    RC_ASSERT(now >= last);
    last = now;
    const Micros moved = last - first;
    const Micros passed = mono - boot;
    RC_ASSERT(moved <= passed * 2);
    RC_ASSERT(moved + 1ms > passed / 2);  // Rounded down to the millisecond.
  }
}

}  // namespace
}  // namespace postrider
