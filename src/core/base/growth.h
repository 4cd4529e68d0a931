// Durations that grow by a factor: backoff, timeouts, the sleep of a circuit.
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace postrider {

/// How a duration grows with each step.
struct Growth {
  Millis base{0};
  double factor = 1.0;  // Below one (or not a number) counts as one: nothing here ever shrinks.
  Millis max{0};
};

/// min(base × factor^steps, max), never negative. Saturates: four billion steps do not wrap around.
[[nodiscard]] Millis grown(const Growth& growth, std::uint32_t steps);

/// The nearest whole millisecond, within 0 … 10,000 years.
[[nodiscard]] Millis to_millis(double milliseconds);

}  // namespace postrider
