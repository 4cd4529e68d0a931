#include "api/resources/request_limiter.h"

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

using namespace std::chrono_literals;

const MonoTime start{1h};
constexpr RateLimit limit{.count = 2, .period = 1s, .burst = 2};

TEST(RequestLimiter, EachClientHasItsOwnBucket) {
  RequestLimiter limiter;
  EXPECT_EQ(limiter.take("a", limit, start), std::nullopt);
  EXPECT_EQ(limiter.take("a", limit, start), std::nullopt);
  EXPECT_EQ(limiter.take("a", limit, start), Micros{500ms});
  EXPECT_EQ(limiter.take("b", limit, start), std::nullopt);
  EXPECT_EQ(limiter.take("a", limit, start + 499ms), Micros{1ms});
  EXPECT_EQ(limiter.take("a", limit, start + 500ms), std::nullopt);
}

TEST(RequestLimiter, ChangedLimitAppliesImmediatelyWithoutExtraTokens) {
  RequestLimiter limiter;
  EXPECT_EQ(limiter.take("a", limit, start), std::nullopt);
  EXPECT_EQ(limiter.take("a", limit, start), std::nullopt);
  const RateLimit larger{.count = 10, .period = 1s, .burst = 10};
  EXPECT_EQ(limiter.take("a", larger, start), Micros{100ms});
  EXPECT_EQ(limiter.take("a", larger, start + 100ms), std::nullopt);
}

TEST(RequestLimiter, ManyClientsNeitherExhaustMemoryNorResetABusyClient) {
  RequestLimiter limiter;
  EXPECT_EQ(limiter.take("busy", limit, start), std::nullopt);
  EXPECT_EQ(limiter.take("busy", limit, start), std::nullopt);
  // Half a second later the other buckets are full again; only those are removed.
  for (int i = 0; i < 9'999; ++i) {
    EXPECT_EQ(limiter.take(std::to_string(i), limit, start - 1s), std::nullopt);
  }
  EXPECT_EQ(limiter.take("one more", limit, start), std::nullopt);
  EXPECT_NE(limiter.take("busy", limit, start), std::nullopt);
}

}  // namespace
}  // namespace postrider::api
