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

TEST(SteadyWall, IsTheWallClockUnlessItJumps) {
  // The clocks start within a millisecond and are read often, as in a process.
  SteadyWall steady;
  for (Micros passed = 900us; passed < 100ms; passed += 37us) {
    const WallTime wall = noon + std::chrono::floor<Millis>(passed);
    ASSERT_EQ(steady.read({wall, boot + passed}), wall) << passed.count() << " microseconds";
  }
}

TEST(SteadyWall, ApproachesAJumpForwardASixteenthFaster) {  // P9
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  EXPECT_EQ(steady.read({noon + 1h, boot}), noon) << "no time has passed";
  EXPECT_EQ(steady.read({noon + 1h + 16s, boot + 16s}), noon + 17s);
  EXPECT_EQ(steady.read({noon + 9h, boot + 8h}), noon + 8h + 30min);
  EXPECT_EQ(steady.read({noon + 17h, boot + 16h}), noon + 17h) << "caught up";
  EXPECT_EQ(steady.read({noon + 18h, boot + 17h}), noon + 18h);
}

TEST(SteadyWall, KeepsItsPaceAfterAJumpBack) {  // P9
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  EXPECT_EQ(steady.read({noon - 1h, boot}), noon);
  EXPECT_EQ(steady.read({noon - 1h + 16s, boot + 16s}), noon + 15s);
  EXPECT_EQ(steady.read({noon + 7h, boot + 8h}), noon + 7h + 30min);
  EXPECT_EQ(steady.read({noon + 15h, boot + 16h}), noon + 15h) << "the wall clock has caught up";
  EXPECT_EQ(steady.read({noon + 16h, boot + 17h}), noon + 16h);
}

TEST(SteadyWall, KeepsItsPaceOverSeveralJumps) {  // P9
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  EXPECT_EQ(steady.read({noon - 24h, boot + 16min}), noon + 15min);
  EXPECT_EQ(steady.read({noon - 48h, boot + 32min}), noon + 30min);
  EXPECT_EQ(steady.read({noon + 48h, boot + 48min}), noon + 47min);
  EXPECT_EQ(steady.read({noon - 999h, boot + 64min}), noon + 62min);
  EXPECT_EQ(steady.read({noon + 79min, boot + 80min}), noon + 79min) << "back to the true time";
}

TEST(SteadyWall, ManySmallReadingsLoseNoTime) {
  SteadyWall steady;
  EXPECT_EQ(steady.read({noon, boot}), noon);
  WallTime last;
  // 16 seconds in steps of 100 µs, with the wall clock a day behind.
  for (int step = 1; step <= 160'000; ++step) {
    last = steady.read({noon - 24h, boot + step * 100us});
  }
  EXPECT_EQ(last, noon + 15s);
}

TEST(SteadyWall, StepsOfOneMicrosecondApproachTheWallClock) {
  SteadyWall back;
  SteadyWall forward;
  EXPECT_EQ(back.read({noon, boot}), noon);
  EXPECT_EQ(forward.read({noon, boot}), noon);
  WallTime slow;
  WallTime fast;
  for (int step = 1; step <= 16'000; ++step) {
    slow = back.read({noon - 24h, boot + step * 1us});
    fast = forward.read({noon + 24h, boot + step * 1us});
  }
  EXPECT_EQ(slow, noon + 15ms);
  EXPECT_EQ(fast, noon + 17ms);
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
  EXPECT_EQ(steady.read({WallTime::max(), MonoTime{} + 16s}), wall_time_min + 17s);
  EXPECT_GT(steady.read({WallTime::max(), MonoTime::max()}), wall_time_min + 17s);
  SteadyWall late;
  EXPECT_EQ(late.read({WallTime::max(), MonoTime{}}), wall_time_max);
  EXPECT_GT(late.read({WallTime::min(), MonoTime::max()}), wall_time_max) << "no overflow";
}

TEST(SteadyWall, ContinuesAfterARestart) {  // P9
  // The clock had been set back by an hour: retries were planned an hour ahead of it.
  const ClockRecord ahead{.wall = noon, .steady = noon + 1h};
  SteadyWall soon{ahead};
  EXPECT_EQ(soon.read({noon + 10s, boot}), noon + 1h);
  EXPECT_EQ(soon.read({noon + 26s, boot + 16s}), noon + 1h + 15s);
  EXPECT_EQ(SteadyWall{ahead}.read({noon + 2h, boot}), noon + 2h) << "the true time again";

  // It had been set forward: the steady time was behind.
  const ClockRecord behind{.wall = noon, .steady = noon - 1h};
  EXPECT_EQ(SteadyWall{behind}.read({noon + 10s, boot}), noon + 10s);
}

TEST(SteadyWall, TakesAClockThatWasSetBackBetweenProcessesAsItIs) {
  EXPECT_EQ((SteadyWall{{.wall = noon, .steady = noon}}.read({noon - 24h, boot})), noon - 24h);
  EXPECT_EQ((SteadyWall{{.wall = noon, .steady = noon + 1h}}.read({noon - 24h, boot})), noon - 23h);
  EXPECT_EQ((SteadyWall{{.wall = noon, .steady = noon - 1h}}.read({noon - 24h, boot})), noon - 24h);
}

TEST(SteadyWall, HandlesExtremeRecords) {
  const ClockRecord wide{.wall = WallTime::min(), .steady = WallTime::max()};
  EXPECT_EQ(SteadyWall{wide}.read({noon, boot}), wall_time_max);
  const ClockRecord reversed{.wall = WallTime::max(), .steady = WallTime::min()};
  EXPECT_EQ(SteadyWall{reversed}.read({noon, boot}), noon);
  const ClockRecord far{.wall = wall_time_max, .steady = WallTime::max()};
  EXPECT_EQ(SteadyWall{far}.read({noon, boot}), noon);
}

RC_GTEST_PROP(SteadyWall, RunsAtMostASixteenthFasterOrSlower, ()) {
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
    // Up to a millisecond from rounding, up to one to be exactly the wall clock.
    RC_ASSERT((moved - 1ms) * 16 <= passed * 17);
    RC_ASSERT((moved + 2ms) * 16 > passed * 15);
  }
}

}  // namespace
}  // namespace postrider
