#include "engine/alerts/duration_window.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
constexpr Millis window = 10s;

DurationHistogram durations(std::initializer_list<Micros> all) {
  DurationHistogram histogram;
  for (const Micros each : all) {
    histogram.add(each);
  }
  return histogram;
}

TEST(DurationWindow, SumsTheCurrentSliceAndTheNineBeforeIt) {
  DurationWindow recent;
  recent.add(durations({1s, 2s}), noon, window);
  recent.add(durations({3s}), noon + 9s, window);
  EXPECT_EQ(recent.sum(noon + 9s, window), durations({1s, 2s, 3s}));
  EXPECT_EQ(recent.sum(noon + 10s, window), durations({3s}));
  EXPECT_EQ(recent.sum(noon + 19s, window), DurationHistogram{});
}

TEST(DurationWindow, ReusesASliceForALaterTime) {
  DurationWindow recent;
  recent.add(durations({1s}), noon, window);
  recent.add(durations({2s}), noon + 10s, window);
  EXPECT_EQ(recent.sum(noon + 10s, window), durations({2s}));
}

}  // namespace
}  // namespace postrider
