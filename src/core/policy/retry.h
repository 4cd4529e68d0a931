// Decides when a failed delivery is retried, when it is given up, and how long an attempt may take.
//
// Pure: the caller passes the time and one random draw, so tests can check exact results and the
// simulation can replay them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/delivery.h"

namespace postrider {

/// Spreads the planned delay uniformly over [delay − minus·delay, delay + plus·delay + extra].
///
/// Never lifts a delay above `delay_max`: at the cap the delay is spread downwards, so that capped
/// retries do not happen together. Where a minimum applies, the delay is spread upwards only. With
/// `minus` alone, that is by as much as it would be spread downwards, and the reverse at the cap.
struct Jitter {
  double minus = 0.0;
  double plus = 0.0;
  Millis extra{0};

  bool operator==(const Jitter&) const = default;
};

struct RetryPolicy {
  Millis delay_base{30'000};
  double multiplier = 2.0;
  Millis delay_max{86'400'000};
  std::vector<Millis> schedule;  // If not empty, replaces formula and cap. The last step repeats.
  Jitter jitter{.minus = 0.1, .plus = 0.1};
  std::uint32_t attempts_max = 12;
  bool attempts_auto = false;  // `attempts_max` is computed by `apply_attempts_auto`.
  Millis timeout{30'000};
  double timeout_growth = 1.0;    // The timeout of attempt n is timeout × growth^(n−1), at most 3×.
  bool category_minimums = true;  // At least 60 s after a 429, 5 s after dns, 2 s after timeout.
  bool honor_retry_after = true;  // Whether the receiver's Retry-After lengthens the delay.
  /// TLS failures are given up after this many attempts, if `attempts_max` allows more: a broken
  /// certificate is seldom fixed within hours.
  std::uint32_t ssl_attempts_max = 3;
  std::vector<std::uint16_t> permanent_statuses = {400, 401, 403, 404, 410, 413, 414, 415, 451};

  bool operator==(const RetryPolicy&) const = default;
};

enum class RetryPreset : std::uint8_t {
  patient,
  balanced,
  quick,
  steep,
  hourly,
  stepped,
  standard
};

[[nodiscard]] RetryPolicy retry_policy(RetryPreset preset);
[[nodiscard]] std::string_view to_string(RetryPreset preset);
[[nodiscard]] std::optional<RetryPreset> parse_retry_preset(std::string_view text);

/// For `max_attempts: "auto"`: doublings from base to max, plus one. 13 for 30 s and 24 h.
[[nodiscard]] std::uint32_t attempts_auto(Millis delay_base, Millis delay_max);

/// Computes `attempts_max` if the policy has `attempts_auto`: as above, or the number of steps of a
/// fixed schedule plus one, at most 100. Call after every change of the delays.
void apply_attempts_auto(RetryPolicy& policy);

/// The delay after attempt `attempt_number` (1-based) without minimums and Retry-After. `draw` is
/// uniform in [0, 1).
[[nodiscard]] Millis backoff_delay(const RetryPolicy& policy, std::uint32_t attempt_number,
                                   double draw);

[[nodiscard]] Millis attempt_timeout(const RetryPolicy& policy, std::uint32_t attempt_number);

/// The failure category of an outcome. Returns nullopt for 2xx. An outcome with neither status nor
/// failure is a protocol failure.
[[nodiscard]] std::optional<FailureCategory> categorize(const Outcome& outcome);

struct Succeeded {
  bool operator==(const Succeeded&) const = default;
};
struct RetryAt {
  WallTime due;
  bool operator==(const RetryAt&) const = default;
};
struct GiveUp {
  DeadReason why;
  bool disable_webhook = false;  // 410 Gone.
  bool operator==(const GiveUp&) const = default;
};
using RetryDecision = std::variant<Succeeded, RetryAt, GiveUp>;

/// The state of the delivery when an attempt ends.
struct AttemptContext {
  std::uint32_t budget_used = 1;  // Attempts since published or revived, including this one.
  WallTime now;
  double draw = 0.0;
};

/// Decides what happens to a delivery after an attempt.
///
/// The delay is the backoff with jitter, and at least: the minimum of the failure category, if the
/// policy uses minimums (not capped by `delay_max`); the receiver's Retry-After, if the policy
/// honors it, capped at `delay_max`.
[[nodiscard]] RetryDecision decide_retry(const RetryPolicy& policy, const Outcome& outcome,
                                         const AttemptContext& context);

/// True if both policies have the same delays and the same number of attempts.
[[nodiscard]] bool same_schedule(const RetryPolicy& a, const RetryPolicy& b);

/// The reason for giving up a delivery that has used all its attempts.
[[nodiscard]] DeadReason attempts_exceeded();

/// True if a waiting delivery has used all its attempts, because its policy became stricter.
[[nodiscard]] bool is_exhausted(const RetryPolicy& policy, const Delivery& delivery);

/// The due time of a waiting delivery under a changed policy or clock. Never later than its current
/// due time: a longer schedule applies from the next failure on. A delivery that has failed waits
/// at most as long as if it had failed now. A delivery that is exhausted, or was never attempted,
/// is due now at the latest. Retry-After is not known any more and is ignored. The jitter depends
/// only on the delivery, so repeated calls give the same result.
[[nodiscard]] WallTime due_under(const RetryPolicy& policy, const Delivery& delivery, WallTime now);

/// Longer than any policy needs, and small enough to add to any time.
constexpr Millis retry_after_max = std::chrono::hours{24 * 365};

/// Parses `Retry-After`: seconds, or an HTTP date in any of its three forms. Returns nullopt for
/// invalid and negative values, zero for a date in the past, at most `retry_after_max`.
[[nodiscard]] std::optional<Millis> parse_retry_after(std::string_view text, WallTime now);

}  // namespace postrider
