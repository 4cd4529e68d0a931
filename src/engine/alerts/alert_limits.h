// The thresholds of the alert rules. Plain values; a configuration reload replaces them as a whole.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/time.h"

namespace postrider {

/// An alert is raised above each `_max` and below each `_min`.
struct AlertLimits {
  /// The window for dead letters. It also ends an alert about permanent failures.
  Millis dead_letters_window = std::chrono::hours{1};
  std::uint32_t dead_letters_max = 10;         // Of one webhook within the window.
  std::uint32_t total_dead_letters_max = 100;  // Of all webhooks within the window. 0: no alert.
  double dead_letter_share_max = 1;            // Per cent of the deliveries that end within the
                                               // window. 0: no alert.
  std::uint32_t deliveries_min = 100;          // Fewer deliveries have no share.
  bool permanent_failures = true;              // Alert about every webhook with a new dead letter.

  Millis dns_window = std::chrono::minutes{10};
  double dns_failures_max = 80;        // Per cent of one webhook's attempts within the window.
  std::uint32_t dns_attempts_min = 3;  // Fewer attempts raise no alert.

  /// The window for shares of attempts. With fewer attempts than the minimum a share means nothing:
  /// one failure of two is already a half.
  Millis share_window = std::chrono::minutes{5};
  std::uint32_t share_attempts_min = 10;
  double failures_max = 10;                       // Per cent of one webhook's attempts,
  Millis failing_for = std::chrono::minutes{10};  // for at least this long.
  double successes_min = 90;                      // Per cent of all attempts.
  double total_failures_max = 10;  // Per cent of all attempts, for failing_for. 0: no alert.
  Millis p99_max{30'000};          // 99 % of all attempts take at most this long. 0: no alert.

  Millis circuit_open_max = std::chrono::hours{1};
  std::uint32_t tenant_dead_letters_max = 1'000;  // Dead letters of one tenant.
  std::uint32_t queue_max = 10'000;               // Waiting deliveries of all webhooks.
  double pool_max = 80;                           // Per cent of in_flight_max.

  bool operator==(const AlertLimits&) const = default;
};

}  // namespace postrider
