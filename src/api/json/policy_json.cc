#include "api/json/policy_json.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/net/header_rules.h"

namespace postrider::api {
namespace {

constexpr IntegerRange calls_range{1, 1'000};
constexpr IntegerRange threshold_range{0, 1'000};
constexpr IntegerRange window_ms_range{100, 86'400'000};
constexpr IntegerRange sleep_ms_range{10, 604'800'000};
constexpr NumberRange percentage_range{1, 100};
constexpr TextRule prefix_rule{.bytes_max = header_prefix_bytes_max, .multiline = false};
constexpr Millis minute{60'000};

std::optional<BreakerWindow> parse_window(std::string_view text) {
  if (text == "time") {
    return BreakerWindow::time;
  }
  return text == "count" ? std::optional{BreakerWindow::count} : std::nullopt;
}

std::optional<BreakerPreset> preset_of(const BreakerPolicy& policy) {
  constexpr std::array presets = {BreakerPreset::standard, BreakerPreset::patient,
                                  BreakerPreset::sensitive};
  const auto* found = std::ranges::find_if(presets, [&](BreakerPreset preset) {
    BreakerPolicy forced = breaker_policy(preset);
    forced.force_open_until = policy.force_open_until;  // Not part of a preset.
    return forced == policy;
  });
  return found == presets.end() ? std::nullopt : std::optional{*found};
}

void read_force_open_until(ObjectReader& reader, WallTime now, BreakerPolicy& policy) {
  const JsonField<WallTime> until = reader.time("force_open_until");
  if (until.value && *until.value <= now && until.value != policy.force_open_until) {
    reader.refuse("force_open_until", "must be in the future.");
  } else if (until.present) {
    policy.force_open_until = until.value;
  }
}

/// Refuses values that are valid on their own but contradict each other. A longer `sleep_window_ms`
/// raises a `sleep_max_ms` that is not in the request.
void check_breaker(ObjectReader& reader, BreakerPolicy& policy) {
  if (reader.raw("sleep_max_ms").value_or("null") == "null") {
    policy.sleep_max = std::max(policy.sleep_max, policy.sleep_window);
  }
  if (policy.sleep_max < policy.sleep_window) {
    reader.refuse("sleep_max_ms", "must be at least sleep_window_ms.");
  }
  if (policy.window != BreakerWindow::count) {
    return;
  }
  if (policy.minimum_throughput > policy.window_calls) {
    reader.refuse("minimum_throughput",
                  "must be at most window_calls; otherwise the circuit never opens.");
  }
  if (policy.failure_count_threshold > policy.window_calls) {
    reader.refuse("failure_count_threshold",
                  "must be at most window_calls; otherwise the circuit never opens.");
  }
}

}  // namespace

void read_breaker(ObjectReader& reader, const BreakerPolicy& defaults, WallTime now,
                  BreakerPolicy& policy) {
  if (const auto preset =
          reader.choice("preset", parse_breaker_preset, "standard, patient, sensitive");
      preset.value) {
    const std::optional<WallTime> until = policy.force_open_until;
    policy = breaker_policy(*preset.value);
    policy.force_open_until = until;
  }
  assign(reader.boolean("enabled"), policy.enabled, defaults.enabled);
  assign(reader.choice("window", parse_window, "time, count"), policy.window, defaults.window);
  assign_millis(reader.integer("window_size_ms", window_ms_range), policy.window_size,
                defaults.window_size);
  assign(reader.integer("window_calls", calls_range), policy.window_calls, defaults.window_calls);
  assign(reader.integer("minimum_throughput", calls_range), policy.minimum_throughput,
         defaults.minimum_throughput);
  assign(reader.number("error_threshold_percentage", percentage_range),
         policy.error_threshold_percentage, defaults.error_threshold_percentage);
  assign(reader.integer("failure_count_threshold", threshold_range), policy.failure_count_threshold,
         defaults.failure_count_threshold);
  assign(reader.integer("consecutive_failure_threshold", threshold_range),
         policy.consecutive_failure_threshold, defaults.consecutive_failure_threshold);
  assign_millis(reader.integer("sleep_window_ms", sleep_ms_range), policy.sleep_window,
                defaults.sleep_window);
  assign(reader.number("sleep_multiplier", {1, 10}), policy.sleep_multiplier,
         defaults.sleep_multiplier);
  assign_millis(reader.integer("sleep_max_ms", sleep_ms_range), policy.sleep_max,
                defaults.sleep_max);
  assign(reader.integer("half_open_max_calls", {1, 100}), policy.half_open_max_calls,
         defaults.half_open_max_calls);
  assign(reader.number("half_open_success_percentage", percentage_range),
         policy.half_open_success_percentage, defaults.half_open_success_percentage);
  read_force_open_until(reader, now, policy);
  reader.finish();
  check_breaker(reader, policy);
}

void write_breaker(JsonWriter& writer, const BreakerPolicy& policy) {
  writer.open_object();
  const std::optional<BreakerPreset> preset = preset_of(policy);
  writer.member("preset", preset ? std::optional{to_string(*preset)} : std::nullopt);
  writer.member("enabled", policy.enabled);
  writer.member("window", policy.window == BreakerWindow::time ? "time" : "count");
  writer.member("window_size_ms", policy.window_size.count());
  writer.member("window_calls", policy.window_calls);
  writer.member("minimum_throughput", policy.minimum_throughput);
  writer.member("error_threshold_percentage", policy.error_threshold_percentage);
  writer.member("failure_count_threshold", policy.failure_count_threshold);
  writer.member("consecutive_failure_threshold", policy.consecutive_failure_threshold);
  writer.member("sleep_window_ms", policy.sleep_window.count());
  writer.member("sleep_multiplier", policy.sleep_multiplier);
  writer.member("sleep_max_ms", policy.sleep_max.count());
  writer.member("half_open_max_calls", policy.half_open_max_calls);
  writer.member("half_open_success_percentage", policy.half_open_success_percentage);
  writer.member("force_open_until", policy.force_open_until);
  writer.close_object();
}

void read_rate_limit(ObjectReader& reader, std::optional<RateLimit>& limit) {
  const JsonField<std::int64_t> per_second = reader.integer("requests_per_second", {1, 100'000});
  const JsonField<std::int64_t> per_minute = reader.integer("requests_per_minute", {1, 6'000'000});
  const JsonField<std::int64_t> burst = reader.integer("burst", {1, 100'000});
  reader.finish();
  if (per_second.value && per_minute.value) {
    reader.refuse("requests_per_minute",
                  "cannot be combined with requests_per_second. Send only one of them.");
    return;
  }

  RateLimit changed = limit.value_or(RateLimit{});
  if (per_second.value || per_minute.value) {
    changed.count =
        static_cast<std::uint32_t>(per_second.value ? *per_second.value : *per_minute.value);
    changed.period = per_second.value ? Millis{1'000} : minute;
  }
  if (changed.count == 0) {
    const bool present = reader.raw("requests_per_second") || reader.raw("requests_per_minute");
    if (!present) {
      reader.refuse("requests_per_second", "or requests_per_minute is required.");
    }
    return;
  }
  if (burst.value) {
    changed.burst = static_cast<std::uint32_t>(*burst.value);
  } else if (burst.is_null() || per_second.value || per_minute.value) {
    const std::uint32_t seconds = changed.period == minute ? 60 : 1;
    changed.burst = (changed.count + seconds - 1) / seconds;
  }
  limit = changed;
}

void write_rate_limit(JsonWriter& writer, const std::optional<RateLimit>& limit) {
  if (!limit) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member(limit->period == minute ? "requests_per_minute" : "requests_per_second",
                limit->count);
  writer.member("burst", limit->burst);
  writer.close_object();
}

void read_signature(ObjectReader& reader, const SignaturePolicy& defaults,
                    SignaturePolicy& policy) {
  assign(reader.choice("scheme", parse_signature_scheme,
                       "standard, standard-ed25519, t-v1, sha256-timestamp, sha256-body"),
         policy.scheme, defaults.scheme);
  assign(reader.text("header_prefix", prefix_rule), policy.header_prefix, defaults.header_prefix);
  const JsonField<bool> standard_headers = reader.boolean("standard_headers");
  assign(standard_headers, policy.standard_headers, defaults.standard_headers);
  assign(reader.boolean("prefixed_headers"), policy.prefixed_headers, defaults.prefixed_headers);
  assign(reader.choice("header_set", parse_header_set,
                       "platform, exchange, outbox, workspace, tenant"),
         policy.header_set, defaults.header_set);
  reader.finish();

  if (const auto forbidden = forbidden_headers({}, policy)) {
    reader.refuse("header_prefix", "is not acceptable: " + *forbidden);
  }
  if (standard_headers.value == false && is_standard(policy.scheme)) {
    reader.refuse("standard_headers",
                  fmt::format("must be true for the scheme {}, because one of these headers "
                              "carries the signature.",
                              to_string(policy.scheme)));
  }
  policy.standard_headers = policy.standard_headers || is_standard(policy.scheme);
}

void write_signature(JsonWriter& writer, const SignaturePolicy& policy) {
  writer.open_object();
  writer.member("scheme", to_string(policy.scheme));
  writer.member("header_prefix", policy.header_prefix);
  writer.member("standard_headers", policy.standard_headers);
  writer.member("prefixed_headers", policy.prefixed_headers);
  writer.member("header_set", to_string(policy.header_set));
  writer.close_object();
}

}  // namespace postrider::api
