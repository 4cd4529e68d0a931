// The largest values that an operator lets a tenant's webhooks use. A webhook may have been stored
// with a larger value before its tenant was capped, so the cap applies to every attempt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/base/time.h"
#include "core/model/access.h"

namespace postrider {

struct WebhookCaps {
  Millis timeout = Millis::max();  // Of one attempt, also of a retry whose timeout has grown.
  std::uint32_t in_flight = std::numeric_limits<std::uint32_t>::max();  // Of one webhook.

  bool operator==(const WebhookCaps&) const = default;
};

/// The caps of a tenant. Its own limits replace the defaults, also by larger values.
[[nodiscard]] inline WebhookCaps caps_of(const TenantLimits& limits, const WebhookCaps& defaults) {
  return {.timeout = limits.timeout_ms_max ? Millis{*limits.timeout_ms_max} : defaults.timeout,
          .in_flight = limits.max_in_flight_max.value_or(defaults.in_flight)};
}

}  // namespace postrider
