// From when on something is worth an alert. Plain values; a reload replaces them as a whole.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/time.h"

namespace postrider {

/// More than each of these, unless a comment says otherwise.
struct AlertLimits {
  Millis dead_letters_window = std::chrono::hours{1};
  std::uint32_t dead_letters_max = 10;  // Of one webhook in the window.
  Millis dns_window = std::chrono::minutes{10};
  double dns_failures_max = 80;  // Per cent of one webhook's attempts in the window.
  std::uint32_t dns_attempts_min = 3;

  /// How far back shares of attempts look. Fewer attempts than the minimum say nothing: of two, one
  /// failure is a half.
  Millis share_window = std::chrono::minutes{5};
  std::uint32_t share_attempts_min = 10;
  double failures_max = 10;                       // Per cent of one webhook's attempts,
  Millis failing_for = std::chrono::minutes{10};  // for at least so long.
  double successes_min = 90;                      // Per cent of everyone's attempts; fewer.

  Millis circuit_open_max = std::chrono::hours{1};
  std::uint32_t tenant_dead_letters_max = 1'000;  // Kept, of one tenant.
  std::uint32_t queue_max = 10'000;               // Waiting deliveries, all webhooks together.
  double pool_max = 80;                           // Per cent of the requests there may be at once.

  bool operator==(const AlertLimits&) const = default;
};

}  // namespace postrider
