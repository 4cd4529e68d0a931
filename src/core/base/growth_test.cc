#include "core/base/growth.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t huge_steps = 4'000'000'000u;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(Grown, MultipliesUpToTheMaximum) {
  const Growth doubling{.base = 1s, .factor = 2.0, .max = 10s};
  EXPECT_EQ(grown(doubling, 0), 1s);
  EXPECT_EQ(grown(doubling, 1), 2s);
  EXPECT_EQ(grown(doubling, 3), 8s);
  EXPECT_EQ(grown(doubling, 4), 10s);
  EXPECT_EQ(grown(doubling, huge_steps), 10s);
}

TEST(Grown, HandlesExtremeArguments) {
  EXPECT_EQ(grown({.base = 0s, .factor = 2.0, .max = 10s}, huge_steps), 0s);
  EXPECT_EQ(grown({.base = -5s, .factor = 2.0, .max = 10s}, 3), 0s);
  EXPECT_EQ(grown({.base = 5s, .factor = 2.0, .max = -1s}, 3), 0s);
  EXPECT_EQ(grown({.base = 20s, .factor = 2.0, .max = 10s}, 0), 10s);
  EXPECT_EQ(grown({.base = 1s, .factor = 0.5, .max = 10s}, huge_steps), 1s) << "never shrinks";
  EXPECT_EQ(grown({.base = 1s, .factor = not_a_number, .max = 10s}, 7), 1s);
  EXPECT_EQ(grown({.base = 1s, .factor = infinity, .max = 10s}, 1), 10s);
  EXPECT_EQ(grown({.base = 1ms, .factor = 1.0000001, .max = 1ms}, huge_steps), 1ms);
  EXPECT_EQ(grown({.base = 1s, .factor = 2.0, .max = Millis::max()}, huge_steps).count(),
            to_unix_ms(wall_time_max));
}

RC_GTEST_PROP(Grown, NeverShrinksAndNeverExceedsTheMaximum, ()) {
  const Growth growth{.base = Millis{*rc::gen::inRange<std::int64_t>(0, 1'000'000)},
                      .factor = *rc::gen::inRange(0, 1'000) / 100.0,
                      .max = Millis{*rc::gen::inRange<std::int64_t>(0, 100'000'000)}};
  const auto steps = *rc::gen::inRange<std::uint32_t>(0, 100);
  RC_ASSERT(grown(growth, steps) <= grown(growth, steps + 1));
  RC_ASSERT(grown(growth, steps) <= growth.max);
  RC_ASSERT(grown(growth, steps) >= std::min(growth.base, growth.max));
}

TEST(ToMillis, RoundsAndSaturates) {
  EXPECT_EQ(to_millis(1.49), 1ms);
  EXPECT_EQ(to_millis(1.5), 2ms);
  EXPECT_EQ(to_millis(-1.0), 0ms);
  EXPECT_EQ(to_millis(not_a_number), 0ms);
  EXPECT_EQ(to_millis(infinity).count(), to_unix_ms(wall_time_max));
  EXPECT_EQ(to_millis(-infinity), 0ms);
}

}  // namespace
}  // namespace postrider
