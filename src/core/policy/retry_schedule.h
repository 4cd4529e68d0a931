// The retries of a delivery whose every attempt fails, for showing a policy to people. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/time.h"
#include "core/policy/retry.h"

namespace postrider {

struct PlannedRetry {
  std::uint32_t attempt = 2;  // Its number.
  Millis delay{0};            // After the attempt before, without jitter.
  Millis delay_min{0};        // With the jitter that gives the shortest delay.
  Millis delay_max{0};
  Millis at{0};  // After the first attempt: the sum of the delays.

  bool operator==(const PlannedRetry&) const = default;
};

/// All attempts after the first. Leaves out what depends on the failure: minimum delays and the
/// receiver's Retry-After.
[[nodiscard]] std::vector<PlannedRetry> retry_schedule(const RetryPolicy& policy);

}  // namespace postrider
