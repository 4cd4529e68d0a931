#include "core/policy/retry_schedule.h"

#include <cmath>

namespace postrider {

std::vector<PlannedRetry> retry_schedule(const RetryPolicy& policy) {
  const double draw_max = std::nextafter(1.0, 0.0);
  RetryPolicy steady = policy;
  steady.jitter = {};
  std::vector<PlannedRetry> schedule;
  Millis sum{0};
  for (std::uint32_t failed = 1; failed < policy.attempts_max; ++failed) {
    const Millis delay = backoff_delay(steady, failed, 0.0);
    sum += delay;
    schedule.push_back({.attempt = failed + 1,
                        .delay = delay,
                        .delay_min = backoff_delay(policy, failed, 0.0),
                        .delay_max = backoff_delay(policy, failed, draw_max),
                        .at = sum});
  }
  return schedule;
}

}  // namespace postrider
