#include "client/backoff.h"

#include <limits>

#include <gtest/gtest.h>

namespace postrider::client {
namespace {

using namespace std::chrono_literals;

constexpr BackoffLimits limits{.delay_min = 200ms, .delay_max = 30s};

TEST(RetryDelay, DoublesUpToTheMaximumAndIsShortenedByUpToAHalf) {
  struct Case {
    std::uint32_t failures;
    double draw;
    Millis want;
  };
  for (const Case& each : {Case{1, 0.0, 200ms},
                           {1, 0.5, 150ms},
                           {2, 0.0, 400ms},
                           {2, 0.5, 300ms},
                           {8, 0.0, 25'600ms},
                           {9, 0.0, 30s},
                           {9, 0.5, 22'500ms},
                           {std::numeric_limits<std::uint32_t>::max(), 0.0, 30s}}) {
    EXPECT_EQ(retry_delay(limits, each.failures, std::nullopt, each.draw), each.want)
        << each.failures << " failures, draw " << each.draw;
  }
}

TEST(RetryDelay, IsNeverShorterThanRetryAfter) {
  EXPECT_EQ(retry_delay(limits, 1, 7s, 0.0), 7s);
  EXPECT_EQ(retry_delay(limits, 1, 7s, 0.5), 7'100ms);
  EXPECT_EQ(retry_delay(limits, 9, 7s, 0.0), 30s);
  EXPECT_EQ(retry_delay(limits, 1, 0s, 0.0), 200ms);
  EXPECT_EQ(retry_delay(limits, 1, 60s, 0.0), 60s);
}

TEST(RetryDelay, DoesNotWaitForAnAbsurdTime) {
  EXPECT_EQ(retry_delay(limits, 1, 24h * 365, 0.0), 1h);
}

TEST(RetryDelay, OfEqualLimitsIsConstantButForTheSpread) {
  const BackoffLimits equal{.delay_min = 10ms, .delay_max = 10ms};
  EXPECT_EQ(retry_delay(equal, 1, std::nullopt, 0.0), 10ms);
  EXPECT_EQ(retry_delay(equal, 5, std::nullopt, 0.8), 6ms);
}

}  // namespace
}  // namespace postrider::client
