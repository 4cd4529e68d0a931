#include "engine/shard/shortage_pause.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

const MonoTime boot{1h};

TEST(ShortagePause, IsOffUntilAShortage) {
  const ShortagePause pause;
  EXPECT_FALSE(pause.is_on(MonoTime::min()));
  EXPECT_FALSE(pause.is_on(boot));
}

TEST(ShortagePause, DoublesUpToASecond) {
  ShortagePause pause;
  MonoTime now = boot;
  for (const Micros length : {50ms, 100ms, 200ms, 400ms, 800ms, 1'000ms, 1'000ms}) {
    pause.on_shortage(now, 0.0);
    EXPECT_EQ(pause.until(), now + length / 2);
    EXPECT_TRUE(pause.is_on(now));
    EXPECT_FALSE(pause.is_on(pause.until()));
    now = pause.until();
  }
}

TEST(ShortagePause, IsSpreadOverHalfItsLength) {
  ShortagePause pause;
  pause.on_shortage(boot, 0.5);
  EXPECT_EQ(pause.until(), boot + 37'500us);
}

TEST(ShortagePause, CountsAttemptsThatFailTogetherOnce) {
  ShortagePause pause;
  pause.on_shortage(boot, 0.0);
  const MonoTime until = pause.until();
  pause.on_shortage(boot + 1ms, 0.9);
  EXPECT_EQ(pause.until(), until);
}

TEST(ShortagePause, IsShortAgainAfterAnAttempt) {
  ShortagePause pause;
  pause.on_shortage(boot, 0.0);
  pause.on_shortage(boot + 1s, 0.0);
  pause.on_attempt();
  pause.on_shortage(boot + 2s, 0.0);
  EXPECT_EQ(pause.until(), boot + 2s + 25ms);
}

}  // namespace
}  // namespace postrider
