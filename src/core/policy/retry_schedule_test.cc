#include "core/policy/retry_schedule.h"

#include <array>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(RetrySchedule, ListsEveryAttemptAfterTheFirst) {
  RetryPolicy policy;
  policy.delay_base = 30s;
  policy.delay_max = 60s;
  policy.jitter = {.minus = 0.1, .plus = 0.1};
  policy.attempts_max = 4;
  const std::vector<PlannedRetry> wanted = {
      {.attempt = 2, .delay = 30s, .delay_min = 27s, .delay_max = 33s, .at = 30s},
      {.attempt = 3, .delay = 60s, .delay_min = 54s, .delay_max = 60s, .at = 90s},
      {.attempt = 4, .delay = 60s, .delay_min = 54s, .delay_max = 60s, .at = 150s}};
  EXPECT_EQ(retry_schedule(policy), wanted) << "at the cap the delay is spread downwards";
}

TEST(RetrySchedule, IsEmptyIfThereIsOneAttempt) {
  RetryPolicy policy;
  policy.attempts_max = 1;
  EXPECT_TRUE(retry_schedule(policy).empty());
}

TEST(RetrySchedule, BoundsWhatIsDecidedAfterAFailure) {
  constexpr std::array presets = {RetryPreset::patient, RetryPreset::balanced, RetryPreset::quick,
                                  RetryPreset::steep,   RetryPreset::hourly,   RetryPreset::stepped,
                                  RetryPreset::standard};
  Outcome failed;
  failed.http_status = 500;
  for (const RetryPreset preset : presets) {
    const RetryPolicy policy = retry_policy(preset);
    const std::vector<PlannedRetry> schedule = retry_schedule(policy);
    ASSERT_EQ(schedule.size(), policy.attempts_max - 1) << to_string(preset);
    for (const PlannedRetry& retry : schedule) {
      for (const double draw : {0.0, 0.25, 0.5, 0.999}) {
        const RetryDecision decision = decide_retry(
            policy, failed, {.budget_used = retry.attempt - 1, .now = WallTime{}, .draw = draw});
        const Millis delay = std::get<RetryAt>(decision).due - WallTime{};
        EXPECT_LE(retry.delay_min, delay) << to_string(preset) << retry.attempt;
        EXPECT_GE(retry.delay_max, delay) << to_string(preset) << retry.attempt;
      }
      EXPECT_LE(retry.delay_min, retry.delay);
      EXPECT_GE(retry.delay_max, retry.delay);
    }
  }
}

}  // namespace
}  // namespace postrider
