// When a failed delivery is tried again, when it is given up, and how long an attempt may take.
//
// Pure: the caller passes the time and one uniform draw, so a test states exact results and a
// simulation replays them.
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

/// How the planned delay is spread: uniform in [delay − minus·delay, delay + plus·delay + extra].
/// The cap comes before: a delay of `delay_max` is spread, too, or capped retries would meet again.
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
  std::vector<Millis> schedule;  // When not empty, replaces formula and cap; its last step repeats.
  Jitter jitter{.minus = 0.1, .plus = 0.1};
  std::uint32_t attempts_max = 12;
  bool attempts_auto = false;  // `attempts_max` is whatever `count_attempts` says.
  Millis timeout{30'000};
  double timeout_growth = 1.0;    // The timeout of attempt n is timeout × growth^(n−1), at most 3×.
  bool category_minimums = true;  // At least 60 s after a 429, 5 s after dns, 2 s after timeout.
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

/// `max_attempts: "auto"`: how many doublings from base reach max, plus one. 13 for 30 s and 24 h.
[[nodiscard]] std::uint32_t attempts_auto(Millis delay_base, Millis delay_max);

/// Sets `attempts_max` of a policy that wants it counted: as above, or as many as a fixed schedule
/// has steps, and one more; 100 at most. After every change of the delays.
void count_attempts(RetryPolicy& policy);

/// The delay after attempt `attempt_number` (1-based) before minimums and Retry-After.
/// `draw` is uniform in [0, 1).
[[nodiscard]] Millis backoff_delay(const RetryPolicy& policy, std::uint32_t attempt_number,
                                   double draw);

[[nodiscard]] Millis attempt_timeout(const RetryPolicy& policy, std::uint32_t attempt_number);

/// What the outcome means: nullopt for 2xx. An outcome that says nothing at all is a protocol
/// failure.
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
using Verdict = std::variant<Succeeded, RetryAt, GiveUp>;

/// Where the delivery stands when an attempt ends.
struct AttemptContext {
  std::uint32_t budget_used = 1;  // Attempts since published or revived, this one included.
  WallTime now;
  double draw = 0.0;
};

/// A broken certificate is rarely mended within hours, and every try shows it to whoever listens.
constexpr std::uint32_t ssl_attempts_max = 3;

/// Decides what becomes of a delivery after one attempt.
///
/// The delay is the backoff with its jitter; then, unless the policy leaves it out, at least the
/// minimum of its failure category (`delay_max` does not cut it); then at least what the
/// receiver asked for, of which no more than `delay_max` is granted.
[[nodiscard]] Verdict judge(const RetryPolicy& policy, const Outcome& outcome,
                            const AttemptContext& context);

/// Do both wait equally long and give up after equally many attempts?
[[nodiscard]] bool same_schedule(const RetryPolicy& a, const RetryPolicy& b);

/// Why a delivery that has had all its attempts is given up.
[[nodiscard]] DeadReason attempts_exceeded();

/// Has a delivery that waits had all its attempts? So it is when its policy became stricter.
[[nodiscard]] bool is_exhausted(const RetryPolicy& policy, const Delivery& delivery);

/// When a delivery that already waits is due under a changed policy or clock. One that has failed
/// waits no longer from now on than it would after failing now; one that is exhausted, or was never
/// attempted, does not wait. Never later than it is: a longer schedule holds from the next failure
/// on. What its receiver asked for is not known any more. The same delivery gets the same jitter
/// however often this is asked.
[[nodiscard]] WallTime due_under(const RetryPolicy& policy, const Delivery& delivery, WallTime now);

/// Enough for any policy, and safe to add to any time.
constexpr Millis retry_after_max = std::chrono::hours{24 * 365};

/// `Retry-After` as seconds or an HTTP date in any of its three forms. Garbage and negative values
/// are nullopt; a date in the past is zero; more than `retry_after_max` is `retry_after_max`.
[[nodiscard]] std::optional<Millis> parse_retry_after(std::string_view text, WallTime now);

}  // namespace postrider
