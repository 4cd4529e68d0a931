#include "core/policy/retry.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

const WallTime noon = *parse_rfc3339("2026-01-31T12:00:00Z");
constexpr double almost_one = 0x1.fffffffffffffp-1;  // The largest draw.

struct PresetCase {
  RetryPreset preset;
  std::vector<Millis> delays;  // After attempts 1, 2, …, without jitter.
  Jitter jitter;
  std::uint32_t attempts_max;
  Millis timeout;
};

const PresetCase preset_cases[] = {
    {RetryPreset::patient,
     {30s, 1min, 2min, 4min, 8min, 16min, 32min, 64min, 128min, 256min, 512min, 1024min, 24h, 24h},
     {.minus = 0.1, .plus = 0.1},
     12,
     30s},
    {RetryPreset::balanced,
     {1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 5min, 5min},
     {.minus = 0.25, .plus = 0.25},
     5,
     30s},
    {RetryPreset::quick, {2s, 4s, 8s, 16s, 32s, 32s}, {.extra = 1s}, 5, 30s},
    {RetryPreset::steep, {1s, 5s, 25s, 125s, 10min, 10min}, {.minus = 0.2, .plus = 0.2}, 6, 30s},
    {RetryPreset::hourly, {30s, 1min, 2min, 4min, 8min, 16min, 32min, 1h, 1h}, {}, 5, 10s},
    {RetryPreset::stepped, {30s, 5min, 20min, 1h, 1h}, {}, 5, 10s},
    {RetryPreset::standard,
     {5s, 5min, 30min, 2h, 5h, 10h, 14h, 20h, 24h, 24h},
     {.minus = 0.1, .plus = 0.1},
     10,
     20s},
};

Outcome answered(std::uint16_t status) {
  Outcome outcome;
  outcome.http_status = status;
  return outcome;
}

TEST(RetryPresets, MatchTheDocumentedTable) {
  const std::vector<std::uint16_t> permanent = {400, 401, 403, 404, 410, 413, 414, 415, 451};
  for (const PresetCase& c : preset_cases) {
    SCOPED_TRACE(to_string(c.preset));
    RetryPolicy policy = retry_policy(c.preset);
    EXPECT_EQ(policy.attempts_max, c.attempts_max);
    EXPECT_EQ(policy.timeout, c.timeout);
    EXPECT_EQ(policy.jitter, c.jitter);
    EXPECT_EQ(policy.permanent_statuses, permanent);
    EXPECT_EQ(policy.timeout_growth, 1.0);
    EXPECT_EQ(policy.delay_max, c.delays.back());

    policy.jitter = {};
    for (std::uint32_t attempt = 1; attempt <= c.delays.size(); ++attempt) {
      EXPECT_EQ(backoff_delay(policy, attempt, 0.0), c.delays[attempt - 1])
          << "attempt " << attempt;
    }
    EXPECT_EQ(backoff_delay(policy, 4'000'000'000u, 0.0), c.delays.back());
    EXPECT_EQ(backoff_delay(policy, UINT32_MAX, 0.0), c.delays.back());
  }
}

TEST(RetryPresets, PatientIsTheDefault) {
  EXPECT_EQ(RetryPolicy{}, retry_policy(RetryPreset::patient));
}

TEST(BackoffDelay, IsSpreadByExactlyTheJitter) {
  struct Case {
    RetryPreset preset;
    std::uint32_t attempt_number;
    double draw;
    Millis want;
  };
  const Case cases[] = {
      {RetryPreset::patient, 1, 0.0, 27s},
      {RetryPreset::patient, 1, 0.5, 30s},
      {RetryPreset::patient, 1, almost_one, 33s},
      {RetryPreset::patient, 99, 0.0, 1'296min},
      {RetryPreset::patient, 99, 0.5, 1'368min},
      {RetryPreset::patient, 99, almost_one, 24h},
      {RetryPreset::balanced, 3, 0.0, 3s},
      {RetryPreset::balanced, 3, 0.25, 3'500ms},
      {RetryPreset::balanced, 3, almost_one, 5s},
      {RetryPreset::quick, 1, 0.0, 2s},
      {RetryPreset::quick, 1, 0.5, 2'500ms},
      {RetryPreset::quick, 4, almost_one, 17s},
      {RetryPreset::quick, 5, 0.0, 31s},
      {RetryPreset::quick, 5, almost_one, 32s},
      {RetryPreset::steep, 2, 0.0, 4s},
      {RetryPreset::steep, 2, almost_one, 6s},
      {RetryPreset::hourly, 2, 0.0, 1min},
      {RetryPreset::hourly, 2, almost_one, 1min},
      {RetryPreset::stepped, 3, almost_one, 20min},
      {RetryPreset::standard, 1, 0.0, 4'500ms},
      {RetryPreset::standard, 8, almost_one, 22h},
      {RetryPreset::standard, 9, 0.0, 1'296min},
      {RetryPreset::standard, 9, almost_one, 24h},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(backoff_delay(retry_policy(c.preset), c.attempt_number, c.draw), c.want)
        << to_string(c.preset) << " attempt " << c.attempt_number << " draw " << c.draw;
  }
}

TEST(BackoffDelay, RepeatsTheLastStepOfAScheduleUncapped) {
  const RetryPolicy policy{.delay_max = 10s, .schedule = {1s, 1min}, .jitter = {}};
  EXPECT_EQ(backoff_delay(policy, 1, 0.0), 1s);
  EXPECT_EQ(backoff_delay(policy, 2, 0.0), 1min);
  EXPECT_EQ(backoff_delay(policy, UINT32_MAX, 0.0), 1min);
}

TEST(BackoffDelay, IsNeverNegative) {
  const RetryPolicy policy{.delay_base = 1s, .schedule = {}, .jitter = {.minus = 5.0}};
  EXPECT_EQ(backoff_delay(policy, 1, 0.0), 0ms);
  EXPECT_EQ(backoff_delay(policy, 1, almost_one), 1s);
}

TEST(BackoffDelay, IsSpreadDownwardsAtTheCap) {
  const auto range = [](const RetryPolicy& policy, std::uint32_t attempt) {
    return std::pair{backoff_delay(policy, attempt, 0.0),
                     backoff_delay(policy, attempt, almost_one)};
  };
  RetryPolicy policy{.delay_base = 10s, .delay_max = 32s, .schedule = {}, .jitter = {.plus = 0.1}};
  EXPECT_EQ(range(policy, 1), (std::pair<Millis, Millis>{10s, 11s}));
  EXPECT_EQ(range(policy, 9), (std::pair<Millis, Millis>{28'800ms, 32s}));
  policy.delay_max = 41s;  // The third delay is just below.
  EXPECT_EQ(range(policy, 3), (std::pair<Millis, Millis>{37s, 41s}));
  policy.jitter = {.minus = 0.5};
  EXPECT_EQ(range(policy, 9), (std::pair<Millis, Millis>{20'500ms, 41s}));
  policy.schedule = {50s};  // Above the cap, which a schedule replaces.
  policy.jitter = {.minus = 0.1, .plus = 0.1};
  EXPECT_EQ(range(policy, 1), (std::pair<Millis, Millis>{45s, 50s}));
}

RC_GTEST_PROP(BackoffDelay, StaysWithinTheJitter, ()) {
  const RetryPolicy policy{
      .delay_base = Millis{*rc::gen::inRange<std::int64_t>(1, 100'000)},
      .multiplier = *rc::gen::inRange(100, 1'000) / 100.0,
      .delay_max = Millis{*rc::gen::inRange<std::int64_t>(100'000, 1'000'000'000)},
      .schedule = {},
      .jitter = {.minus = *rc::gen::inRange(0, 101) / 100.0,
                 .plus = *rc::gen::inRange(0, 101) / 100.0,
                 .extra = Millis{*rc::gen::inRange<std::int64_t>(0, 5'000)}}};
  const auto attempt_number = *rc::gen::inRange<std::uint32_t>(1, UINT32_MAX);
  const double draw = *rc::gen::inRange(0, 1'000'000) / 1e6;

  RetryPolicy exact = policy;
  exact.jitter = {};
  const auto planned = static_cast<double>(backoff_delay(exact, attempt_number, draw).count());
  const auto delay = static_cast<double>(backoff_delay(policy, attempt_number, draw).count());
  RC_ASSERT(planned <= static_cast<double>(policy.delay_max.count()));
  const double up = planned * policy.jitter.plus + static_cast<double>(policy.jitter.extra.count());
  RC_ASSERT(delay >= planned - std::max(planned * policy.jitter.minus, up) - 1);
  RC_ASSERT(delay <= planned + up + 1);
  RC_ASSERT(delay <= static_cast<double>(policy.delay_max.count()));
}

TEST(AttemptsAuto, IsTheNumberOfDoublingsPlusOne) {
  EXPECT_EQ(attempts_auto(30s, 24h), 13u);
  EXPECT_EQ(attempts_auto(1s, 1s), 1u);
  EXPECT_EQ(attempts_auto(1s, 1'001ms), 2u);
  EXPECT_EQ(attempts_auto(1s, 2s), 2u);
  EXPECT_EQ(attempts_auto(1s, 2'001ms), 3u);
  EXPECT_EQ(attempts_auto(1s, 1'024s), 11u);
  EXPECT_EQ(attempts_auto(1s, 0s), 1u);
  EXPECT_EQ(attempts_auto(10s, 1s), 1u);
  EXPECT_EQ(attempts_auto(0s, 4ms), 3u) << "a base of zero counts as a millisecond";
  EXPECT_EQ(attempts_auto(-1s, 4ms), 3u);
  EXPECT_EQ(attempts_auto(1ms, Millis::max()), 64u);
}

TEST(AttemptsAuto, IsAppliedOnlyIfThePolicyHasAttemptsAuto) {
  RetryPolicy policy{.delay_base = 1s, .delay_max = 8s, .attempts_max = 7};
  apply_attempts_auto(policy);
  EXPECT_EQ(policy.attempts_max, 7u) << "a fixed number does not change";
  policy.attempts_auto = true;
  apply_attempts_auto(policy);
  EXPECT_EQ(policy.attempts_max, 4u);
  policy.schedule = {5s, 5min, 1h};
  apply_attempts_auto(policy);
  EXPECT_EQ(policy.attempts_max, 4u);
  policy.schedule.assign(100, 1s);
  apply_attempts_auto(policy);
  EXPECT_EQ(policy.attempts_max, 100u);
}

TEST(AttemptTimeout, GrowsToAtMostThreeTimes) {
  RetryPolicy policy{.schedule = {}, .timeout = 10s, .timeout_growth = 1.5};
  EXPECT_EQ(attempt_timeout(policy, 1), 10s);
  EXPECT_EQ(attempt_timeout(policy, 2), 15s);
  EXPECT_EQ(attempt_timeout(policy, 3), 22'500ms);
  EXPECT_EQ(attempt_timeout(policy, 4), 30s);
  EXPECT_EQ(attempt_timeout(policy, 4'000'000'000u), 30s);

  policy.timeout_growth = 1.0;
  EXPECT_EQ(attempt_timeout(policy, 4'000'000'000u), 10s);
  policy.timeout_growth = 0.1;
  EXPECT_EQ(attempt_timeout(policy, 9), 10s) << "a timeout never shrinks";
}

TEST(Categorize, EveryStatusHasItsCategory) {
  for (std::uint32_t status = 0; status <= 999; ++status) {
    std::optional<FailureCategory> want = FailureCategory::protocol;
    if (status == 408) {
      want = FailureCategory::timeout;
    } else if (status == 413) {
      want = FailureCategory::payload_too_large;
    } else if (status == 429) {
      want = FailureCategory::rate_limit;
    } else if (status >= 200 && status <= 299) {
      want = std::nullopt;
    } else if (status >= 300 && status <= 399) {
      want = FailureCategory::redirect;
    } else if (status >= 400 && status <= 499) {
      want = FailureCategory::client_error;
    } else if (status >= 500 && status <= 599) {
      want = FailureCategory::server_error;
    }
    EXPECT_EQ(categorize(answered(static_cast<std::uint16_t>(status))), want) << status;
  }
}

TEST(Categorize, TransportFailureTakesPrecedenceOverAStatus) {
  Outcome outcome;
  EXPECT_EQ(categorize(outcome), FailureCategory::protocol);
  outcome.failure = FailureCategory::dns;
  EXPECT_EQ(categorize(outcome), FailureCategory::dns);
  outcome.http_status = 200;
  EXPECT_EQ(categorize(outcome), FailureCategory::dns) << "an incomplete response is not a success";
}

Delivery failed(std::uint32_t times, WallTime due) {
  Delivery delivery;
  delivery.state = DeliveryState::retrying;
  delivery.budget_used = times;
  delivery.due = due;
  return delivery;
}

TEST(ChangedPolicy, MakesDeliveriesDueNoLaterThanAfterAFailureNow) {
  const WallTime now = wall_from_unix_ms(1'000'000);
  RetryPolicy policy;
  policy.delay_base = Millis{1'000};
  policy.jitter = {};
  policy.attempts_max = 3;
  EXPECT_EQ(due_under(policy, failed(1, now + Millis{5'000}), now), now + Millis{1'000});
  EXPECT_EQ(due_under(policy, failed(2, now + Millis{5'000}), now), now + Millis{2'000});
  EXPECT_EQ(due_under(policy, failed(2, now + Millis{1'999}), now), now + Millis{1'999});
  EXPECT_EQ(due_under(policy, failed(1, now - Millis{1}), now), now - Millis{1});
  EXPECT_EQ(due_under(policy, failed(0, now + Millis{5'000}), now), now);
  EXPECT_EQ(due_under(policy, failed(3, now + Millis{5'000}), now), now);
  EXPECT_EQ(due_under(policy, failed(4, now - Millis{5}), now), now - Millis{5});
}

TEST(ChangedPolicy, AppliesTheSameJitterToADeliveryEveryTime) {
  const WallTime now = wall_from_unix_ms(1'000'000);
  RetryPolicy policy;
  policy.delay_base = Millis{100'000};
  policy.jitter = {.minus = 0.5, .plus = 0.5};
  std::set<WallTime> dues;
  for (std::uint8_t number = 0; number < 20; ++number) {
    Delivery delivery = failed(1, now + Millis{900'000});
    delivery.id.bytes[15] = number;
    const WallTime due = due_under(policy, delivery, now);
    EXPECT_GE(due, now + Millis{50'000});
    EXPECT_LE(due, now + Millis{150'000});
    EXPECT_EQ(due_under(policy, delivery, now), due);
    dues.insert(due);
  }
  EXPECT_GT(dues.size(), 15u);
}

TEST(ChangedPolicy, ExhaustsDeliveriesThatUsedAllAttempts) {
  RetryPolicy policy;
  policy.attempts_max = 2;
  EXPECT_FALSE(is_exhausted(policy, failed(1, {})));
  EXPECT_TRUE(is_exhausted(policy, failed(2, {})));
  policy.attempts_max = 0;
  EXPECT_FALSE(is_exhausted(policy, failed(0, {})));
}

TEST(ChangedPolicy, HasTheSameScheduleIfOnlyTheTimeoutDiffers) {
  const RetryPolicy before;
  RetryPolicy after = before;
  after.timeout = Millis{1};
  after.permanent_statuses = {};
  EXPECT_TRUE(same_schedule(before, after));
  after.attempts_max += 1;
  EXPECT_FALSE(same_schedule(before, after));
  after = before;
  after.schedule = {Millis{1}};
  EXPECT_FALSE(same_schedule(before, after));
}

}  // namespace
}  // namespace postrider
