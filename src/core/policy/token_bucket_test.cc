#include "core/policy/token_bucket.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

const MonoTime start{1h};

std::uint32_t take_all(TokenBucket& bucket, MonoTime now, std::uint32_t count_max = 1'000'000) {
  std::uint32_t taken = 0;
  while (taken < count_max && bucket.try_take(now)) {
    ++taken;
  }
  return taken;
}

TEST(TokenBucket, ReportsWhenSeveralTokensAreAvailable) {
  TokenBucket bucket{{.count = 10, .period = 1s, .burst = 2}, start};
  EXPECT_EQ(bucket.available_at(start, 2), start);
  EXPECT_EQ(bucket.available_at(start, 3), start + 100ms);
  EXPECT_EQ(take_all(bucket, start), 2u);
  EXPECT_EQ(bucket.available_at(start + 50ms, 4), start + 400ms);
  const TokenBucket slow{{.count = 1, .period = Millis::max(), .burst = 1}, start};
  EXPECT_EQ(slow.available_at(start, 1), start);
  EXPECT_EQ(slow.available_at(start, 4'000'000'000u), MonoTime::max());
}

TEST(TokenBucket, StartsFullAndGivesTheBurstAtOnce) {
  TokenBucket bucket{{.count = 10, .period = 1s, .burst = 3}, start};
  EXPECT_EQ(bucket.tokens(start), 3.0);
  EXPECT_EQ(take_all(bucket, start), 3u);
  EXPECT_EQ(bucket.tokens(start), 0.0);
}

TEST(TokenBucket, EarnsTokensAfterBeingEmptied) {
  TokenBucket bucket{{.count = 10, .period = 1s, .burst = 3}, start};
  bucket.empty(start);
  EXPECT_FALSE(bucket.try_take(start + 100ms - 1us));
  EXPECT_TRUE(bucket.try_take(start + 100ms));
  EXPECT_EQ(take_all(bucket, start + 1h), 3u);
}

TEST(TokenBucket, TokenIsAvailableExactlyAtTheReportedTime) {
  TokenBucket bucket{{.count = 10, .period = 1s, .burst = 1}, start};
  EXPECT_EQ(bucket.available_at(start), start);
  ASSERT_TRUE(bucket.try_take(start));
  EXPECT_EQ(bucket.available_at(start), start + 100ms);
  EXPECT_EQ(bucket.available_at(start + 30ms), start + 100ms);
  EXPECT_FALSE(bucket.try_take(start + 100ms - 1us));
  EXPECT_TRUE(bucket.try_take(start + 100ms));
  EXPECT_EQ(bucket.available_at(start + 1h), start + 1h);
}

TEST(TokenBucket, RateThatDoesNotDivideEvenlyDoesNotDrift) {
  TokenBucket bucket{{.count = 3, .period = 1s, .burst = 1}, start};
  ASSERT_TRUE(bucket.try_take(start));
  EXPECT_EQ(bucket.available_at(start), start + 333'334us) << "rounded up";

  MonoTime now = start;
  for (int taken = 0; taken < 30'000; ++taken) {
    now = bucket.available_at(now);
    ASSERT_TRUE(bucket.try_take(now));
  }
  // With a burst of one, each take may lose less than a microsecond while the bucket is full.
  EXPECT_GE(now, start + 10'000s);
  EXPECT_LE(now, start + 10'000s + 30'000us);

  TokenBucket asked_often{{.count = 3, .period = 1s, .burst = 2}, start};
  std::uint32_t taken = take_all(asked_often, start);
  for (MonoTime at = start; at <= start + 1'000s; at += 777us) {
    taken += take_all(asked_often, at);
  }
  taken += take_all(asked_often, start + 1'000s);
  EXPECT_EQ(taken, 2u + 3'000u);
}

TEST(TokenBucket, PerMinuteRatesAreSpreadOverTheMinute) {
  TokenBucket bucket{{.count = 100, .period = 1min, .burst = 1}, start};
  EXPECT_EQ(take_all(bucket, start), 1u);
  EXPECT_EQ(bucket.available_at(start), start + 600ms);
}

TEST(TokenBucket, IdleTimeNeverGivesMoreThanTheBurst) {
  TokenBucket bucket{{.count = 1'000, .period = 1s, .burst = 5}, start};
  EXPECT_EQ(take_all(bucket, start), 5u);
  EXPECT_EQ(take_all(bucket, start + 24h * 365 * 100), 5u);
}

TEST(TokenBucket, HandlesTheLargestNumbers) {
  const RateLimit largest{.count = UINT32_MAX, .period = 24h, .burst = UINT32_MAX};
  TokenBucket bucket{largest, MonoTime{}};
  EXPECT_EQ(take_all(bucket, MonoTime{}, 1'000), 1'000u);
  EXPECT_TRUE(bucket.try_take(MonoTime::max()));
  EXPECT_EQ(bucket.available_at(MonoTime::max()), MonoTime::max());

  TokenBucket slowest{{.count = 1, .period = Millis::max(), .burst = UINT32_MAX}, MonoTime{}};
  EXPECT_EQ(take_all(slowest, MonoTime{}), 1u) << "a burst that would overflow is reduced";
  EXPECT_FALSE(slowest.try_take(MonoTime{} + 24h * 365 * 1'000));
  EXPECT_GT(slowest.available_at(start), start + 24h * 365 * 1'000);

  TokenBucket fastest{{.count = UINT32_MAX, .period = 1ms, .burst = 1}, MonoTime{}};
  EXPECT_EQ(take_all(fastest, MonoTime{}), 1u);
  EXPECT_EQ(fastest.available_at(MonoTime{}), MonoTime{} + 1us);
}

TEST(TokenBucket, ExtremeLimitsAreClamped) {
  TokenBucket never{{.count = 0, .period = 1s, .burst = 2}, start};
  EXPECT_EQ(take_all(never, start), 2u);
  EXPECT_FALSE(never.try_take(start + 24h * 365));
  EXPECT_EQ(never.available_at(start), MonoTime::max());

  TokenBucket no_burst{{.count = 1, .period = 1s, .burst = 0}, start};
  EXPECT_EQ(take_all(no_burst, start), 1u);

  TokenBucket no_period{{.count = 1, .period = 0s, .burst = 1}, start};
  EXPECT_EQ(take_all(no_period, start), 1u);
  EXPECT_EQ(no_period.available_at(start), start + 1ms);
}

TEST(TokenBucket, TimeThatStepsBackEarnsNothing) {
  TokenBucket bucket{{.count = 10, .period = 1s, .burst = 1}, start};
  ASSERT_TRUE(bucket.try_take(start));
  EXPECT_FALSE(bucket.try_take(start - 1s));
  EXPECT_FALSE(bucket.try_take(start + 99ms)) << "the second back must not be earned twice";
  EXPECT_TRUE(bucket.try_take(start + 100ms));
}

TEST(TokenBucket, ChangedLimitAddsNoTokens) {
  TokenBucket bucket{{.count = 10, .period = 1s, .burst = 2}, start};
  EXPECT_EQ(take_all(bucket, start), 2u);
  bucket.change({.count = 10, .period = 1s, .burst = 100}, start);
  EXPECT_FALSE(bucket.try_take(start));
  EXPECT_EQ(take_all(bucket, start + 1s), 10u);

  bucket.change({.count = 10, .period = 1s, .burst = 3}, start + 100s);
  EXPECT_EQ(take_all(bucket, start + 100s), 3u) << "tokens above the new burst are lost";

  bucket.change({.count = 600, .period = 1min, .burst = 3}, start + 100s + 250ms);
  EXPECT_EQ(bucket.tokens(start + 100s + 250ms), 2.0)
      << "whole tokens are kept, fractions are dropped";
}

TEST(TokenBucket, ApplyingTheSameLimitChangesNothing) {
  const RateLimit limit{.count = 7, .period = 1s, .burst = 4};
  TokenBucket bucket{limit, start};
  EXPECT_EQ(take_all(bucket, start), 4u);
  TokenBucket changed = bucket;
  for (int step = 1; step <= 100; ++step) {
    changed.change(limit, start + step * 1ms);
  }
  EXPECT_EQ(changed.tokens(start + 200ms), bucket.tokens(start + 200ms));
}

/// P7: every interval gets at most burst + rate × its length. A caller that returns at
/// `available_at` gets a token.
RC_GTEST_PROP(TokenBucket, NeverGivesMoreThanTheLimitInAnyInterval, ()) {
  const RateLimit limit{.count = *rc::gen::inRange<std::uint32_t>(1, 2'000),
                        .period = Millis{*rc::gen::inRange<std::int64_t>(1, 70'000)},
                        .burst = *rc::gen::inRange<std::uint32_t>(1, 20)};
  const auto pauses =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 5'000'000));

  TokenBucket bucket{limit, start};
  std::vector<MonoTime> taken;
  MonoTime now = start;
  for (const std::int64_t pause : pauses) {
    now = pause % 3 == 0 ? bucket.available_at(now) : now + Micros{pause};
    const bool expected = bucket.available_at(now) == now;
    const bool got = bucket.try_take(now);
    RC_ASSERT(got == expected);
    if (got) {
      taken.push_back(now);
    }
  }
  const std::int64_t period_us = Micros{limit.period}.count();
  for (std::size_t first = 0; first < taken.size(); ++first) {
    for (std::size_t last = first; last < taken.size(); ++last) {
      const std::int64_t length_us = (taken[last] - taken[first]).count();
      const std::int64_t allowed = limit.burst + length_us * limit.count / period_us;
      RC_ASSERT(static_cast<std::int64_t>(last - first + 1) <= allowed);
    }
  }
}

}  // namespace
}  // namespace postrider
