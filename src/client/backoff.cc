#include "client/backoff.h"

#include <algorithm>

#include "core/base/assert.h"

namespace postrider::client {
namespace {

Millis part_of(Millis whole, double share) {
  return Millis{static_cast<std::int64_t>(static_cast<double>(whole.count()) * share)};
}

}  // namespace

Millis retry_delay(const BackoffLimits& limits, std::uint32_t failures,
                   std::optional<Millis> retry_after, double draw) {
  POSTRIDER_ASSERT(failures >= 1);
  POSTRIDER_ASSERT(draw >= 0.0 && draw < 1.0);
  Millis ceiling = limits.delay_min;
  for (std::uint32_t failure = 1; failure < failures && ceiling < limits.delay_max; ++failure) {
    ceiling *= 2;
  }
  ceiling = std::min(ceiling, limits.delay_max);
  const Millis delay = ceiling - part_of(ceiling, draw / 2);
  if (!retry_after) {
    return delay;
  }
  const Millis asked = std::min(*retry_after, retry_after_honoured_max);
  return std::max(delay, asked + part_of(limits.delay_min, draw));
}

}  // namespace postrider::client
