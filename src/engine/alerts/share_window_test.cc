#include "engine/alerts/share_window.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;
using Count = ShareWindow::Count;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);  // A slice begins.

TEST(ShareWindow, IsEmptyAtFirst) { EXPECT_EQ(ShareWindow{}.sum(noon, 10min), Count{}); }

TEST(ShareWindow, DropsASliceAfterTenNewerOnes) {
  ShareWindow window;
  window.add({.total = 3, .part = 1}, noon, 10min);
  window.add({.total = 2, .part = 2}, noon + 1min, 10min);
  EXPECT_EQ(window.sum(noon + 10min - 1ms, 10min), (Count{.total = 5, .part = 3}));
  EXPECT_EQ(window.sum(noon + 10min, 10min), (Count{.total = 2, .part = 2}));
  EXPECT_EQ(window.sum(noon + 11min, 10min), Count{});
}

TEST(ShareWindow, ReusesSlices) {
  ShareWindow window;
  window.add({.total = 3, .part = 1}, noon, 10min);
  window.add({.total = 7, .part = 0}, noon + 10min, 10min);
  EXPECT_EQ(window.sum(noon + 10min, 10min), (Count{.total = 7, .part = 0}));
}

TEST(ShareWindow, AcceptsAWindowShorterThanItsSlices) {
  ShareWindow window;
  window.add({.total = 1, .part = 1}, noon, 1ms);
  EXPECT_EQ(window.sum(noon, 1ms), (Count{.total = 1, .part = 1}));
}

}  // namespace
}  // namespace postrider
