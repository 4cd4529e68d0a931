// Exponential growth of durations: backoff, timeouts, the sleep of an open circuit.
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace postrider {

struct Growth {
  Millis base{0};
  double factor = 1.0;  // Below one, or NaN: treated as one. A duration never shrinks.
  Millis max{0};
};

/// min(base × factor^steps, max), never negative. Saturates for any number of steps.
[[nodiscard]] Millis grown(const Growth& growth, std::uint32_t steps);

/// Rounds to the nearest millisecond and clamps to 0 … `wall_time_max`. NaN becomes zero.
[[nodiscard]] Millis to_millis(double milliseconds);

}  // namespace postrider
