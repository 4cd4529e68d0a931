#include "core/policy/retry.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/enum_names.h"
#include "core/base/growth.h"
#include "core/base/random.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr EnumNames<RetryPreset, RetryPreset::standard> preset_names{
    {"patient", "balanced", "quick", "steep", "hourly", "stepped", "standard"}};

constexpr double timeout_growth_max = 3.0;  // Longer timeouts only block a slot.

Millis delay_min(FailureCategory category) {
  switch (category) {
    case FailureCategory::rate_limit:
      return 60s;  // Most rate limits are per minute.
    case FailureCategory::dns:
      return 5s;  // Resolvers cache a failure for about this long.
    case FailureCategory::timeout:
      return 2s;
    default:
      return 0s;
  }
}

FailureCategory categorize_status(std::uint16_t status) {
  switch (status) {
    case 408:
      return FailureCategory::timeout;
    case 413:
      return FailureCategory::payload_too_large;
    case 429:
      return FailureCategory::rate_limit;
    default:
      break;
  }
  switch (status / 100) {
    case 3:
      return FailureCategory::redirect;
    case 4:
      return FailureCategory::client_error;
    case 5:
      return FailureCategory::server_error;
    default:
      return FailureCategory::protocol;
  }
}

/// The webhook's owner chooses the permanent statuses, so they may be other than 4xx.
std::string permanent_reason(std::uint16_t status) {
  const std::string_view kind = status / 100 == 4   ? "client_error"
                                : status / 100 == 5 ? "server_error"
                                                    : "status";
  return fmt::format("permanent_{}_{}", kind, status);
}

/// The delay after `attempt_number` without jitter.
Millis planned_delay(const RetryPolicy& policy, std::uint32_t attempt_number) {
  const std::uint32_t step = attempt_number - 1;
  if (!policy.schedule.empty()) {
    return policy.schedule[std::min<std::size_t>(step, policy.schedule.size() - 1)];
  }
  return grown({.base = policy.delay_base, .factor = policy.multiplier, .max = policy.delay_max},
               step);
}

/// The lower bounds of one delay.
struct DelayMinimums {
  Millis category{0};
  Millis requested{0};  // By the receiver; at most `delay_max`.
};

/// Spreads `planned` by the policy's jitter; see Jitter.
Millis spread(const RetryPolicy& policy, Millis planned, const DelayMinimums& minimums,
              double draw) {
  const auto to_double = [](Millis delay) { return static_cast<double>(delay.count()); };
  const double minimum = to_double(std::max(minimums.category, minimums.requested));
  const double center = std::max(to_double(planned), minimum);
  const Jitter& jitter = policy.jitter;
  const double down = center * jitter.minus;
  const double plus = center * jitter.plus + to_double(jitter.extra);
  const bool at_minimum = minimum >= to_double(planned);
  const double up = at_minimum && plus <= 0.0 ? down : plus;
  // A step of a schedule may exceed `delay_max`, and so may the minimum of a category. Jitter does
  // not lift the former, but spreads the latter: it is the same for all deliveries.
  const bool capped = !at_minimum || minimums.category <= policy.delay_max;
  const double cap = std::max(to_double(policy.delay_max), center);
  const double high = capped ? std::min(center + up, cap) : center + up;
  const double low = std::max(std::min(center - down, high - up), minimum);
  return to_millis(low + (high - low) * draw);
}

RetryDecision give_up(Classification classification, std::string reason) {
  return GiveUp{.why = {.classification = classification, .reason = std::move(reason)}};
}

}  // namespace

std::string_view to_string(RetryPreset preset) { return preset_names.name(preset); }

std::optional<RetryPreset> parse_retry_preset(std::string_view text) {
  return preset_names.find(text);
}

RetryPolicy retry_policy(RetryPreset preset) {
  RetryPolicy policy;  // Fields that a preset does not set are as in `patient`.
  switch (preset) {
    case RetryPreset::patient:
      break;
    case RetryPreset::balanced:
      policy.delay_base = 1s;
      policy.delay_max = 5min;
      policy.jitter = {.minus = 0.25, .plus = 0.25};
      policy.attempts_max = 5;
      break;
    case RetryPreset::quick:
      policy.delay_base = 2s;
      policy.delay_max = 32s;
      policy.jitter = {.extra = 1s};
      policy.attempts_max = 5;
      break;
    case RetryPreset::steep:
      policy.delay_base = 1s;
      policy.multiplier = 5.0;
      policy.delay_max = 10min;
      policy.jitter = {.minus = 0.2, .plus = 0.2};
      policy.attempts_max = 6;
      break;
    case RetryPreset::hourly:
      policy.delay_max = 1h;
      policy.jitter = {};
      policy.attempts_max = 5;
      policy.timeout = 10s;
      break;
    case RetryPreset::stepped:
      policy.schedule = {30s, 5min, 20min, 1h};
      policy.delay_max = 1h;
      policy.jitter = {};
      policy.attempts_max = 5;
      policy.timeout = 10s;
      break;
    case RetryPreset::standard:
      policy.schedule = {5s, 5min, 30min, 2h, 5h, 10h, 14h, 20h, 24h};
      policy.attempts_max = 10;
      policy.timeout = 20s;
      break;
  }
  return policy;
}

std::uint32_t attempts_auto(Millis delay_base, Millis delay_max) {
  // Doubles instead of using a logarithm, whose rounding could be off by one at powers of two.
  std::uint32_t attempts = 1;
  Millis delay = std::max(delay_base, Millis{1});
  while (delay < delay_max && attempts < 64) {
    delay = delay > delay_max / 2 ? delay_max : delay * 2;
    ++attempts;
  }
  return attempts;
}

void apply_attempts_auto(RetryPolicy& policy) {
  if (!policy.attempts_auto) {
    return;
  }
  constexpr std::size_t count_max = 100;  // The limit for every policy.
  policy.attempts_max =
      policy.schedule.empty()
          ? attempts_auto(policy.delay_base, policy.delay_max)
          : static_cast<std::uint32_t>(std::min(policy.schedule.size() + 1, count_max));
}

Millis backoff_delay(const RetryPolicy& policy, std::uint32_t attempt_number, double draw) {
  POSTRIDER_ASSERT(attempt_number >= 1);
  POSTRIDER_ASSERT(0.0 <= draw);
  POSTRIDER_ASSERT(draw < 1.0);

  return spread(policy, planned_delay(policy, attempt_number), {}, draw);
}

bool same_schedule(const RetryPolicy& a, const RetryPolicy& b) {
  return a.delay_base == b.delay_base && a.multiplier == b.multiplier &&
         a.delay_max == b.delay_max && a.schedule == b.schedule && a.jitter == b.jitter &&
         a.attempts_max == b.attempts_max;
}

DeadReason attempts_exceeded() {
  return {.classification = Classification::recoverable, .reason = "max_attempts_exceeded"};
}

bool is_exhausted(const RetryPolicy& policy, const Delivery& delivery) {
  return delivery.budget_used > 0 && delivery.budget_used >= policy.attempts_max;
}

WallTime due_under(const RetryPolicy& policy, const Delivery& delivery, WallTime now) {
  if (delivery.budget_used == 0 || is_exhausted(policy, delivery)) {
    return std::min(delivery.due, now);
  }
  SplitMix64 random{stable_hash(delivery.id.bytes) + delivery.budget_used};
  const Millis delay = backoff_delay(policy, delivery.budget_used, random.draw());
  return std::min(delivery.due, later(now, delay));
}

Millis attempt_timeout(const RetryPolicy& policy, std::uint32_t attempt_number) {
  POSTRIDER_ASSERT(attempt_number >= 1);
  const Growth growth{
      .base = policy.timeout,
      .factor = policy.timeout_growth,
      .max = to_millis(static_cast<double>(policy.timeout.count()) * timeout_growth_max)};
  return grown(growth, attempt_number - 1);
}

std::optional<FailureCategory> categorize(const Outcome& outcome) {
  if (outcome.failure) {
    return outcome.failure;
  }
  if (!outcome.http_status) {
    return FailureCategory::protocol;
  }
  if (*outcome.http_status / 100 == 2) {
    return std::nullopt;
  }
  return categorize_status(*outcome.http_status);
}

RetryDecision decide_retry(const RetryPolicy& policy, const Outcome& outcome,
                           const AttemptContext& context) {
  POSTRIDER_ASSERT(context.budget_used >= 1);
  const std::optional<FailureCategory> category = categorize(outcome);
  if (!category) {
    return Succeeded{};
  }
  if (!outcome.failure && outcome.http_status &&
      std::ranges::count(policy.permanent_statuses, *outcome.http_status) > 0) {
    return GiveUp{.why = {.classification = Classification::permanent,
                          .reason = permanent_reason(*outcome.http_status)},
                  .disable_webhook = *outcome.http_status == 410};
  }
  if (*category == FailureCategory::ssl && policy.ssl_attempts_max < policy.attempts_max &&
      context.budget_used >= policy.ssl_attempts_max) {
    return give_up(Classification::recoverable, "ssl_error_retry_limit");
  }
  if (context.budget_used >= policy.attempts_max) {
    return GiveUp{.why = attempts_exceeded()};
  }

  DelayMinimums minimums;
  if (policy.category_minimums) {
    minimums.category = delay_min(*category);
  }
  if (policy.honor_retry_after) {
    minimums.requested = std::min(outcome.retry_after.value_or(0ms), policy.delay_max);
  }
  const Millis delay =
      spread(policy, planned_delay(policy, context.budget_used), minimums, context.draw);
  return RetryAt{later(context.now, delay)};
}

}  // namespace postrider
