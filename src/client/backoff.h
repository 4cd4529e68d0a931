// Decides how long a client waits before it repeats a request. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"

namespace postrider::client {

struct BackoffLimits {
  Millis delay_min;
  Millis delay_max;
};

/// Protects against a server that names an absurd time.
constexpr Millis retry_after_honoured_max = std::chrono::hours{1};

/// The delay doubles with each failure in a row, up to `delay_max`, and is shortened by up to a
/// half. `retry_after` is the least delay, lengthened by up to `delay_min`. So clients that failed
/// together do not come back together. `failures` is at least 1; `draw` is uniform in [0, 1).
[[nodiscard]] Millis retry_delay(const BackoffLimits& limits, std::uint32_t failures,
                                 std::optional<Millis> retry_after, double draw);

}  // namespace postrider::client
