// Implements the retry part of policy_json.h.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/json/policy_json.h"

namespace postrider::api {
namespace {

constexpr IntegerRange delay_ms_range{1, 604'800'000};  // A week.
constexpr IntegerRange attempts_range{1, 100};
constexpr IntegerRange status_range{300, 599};  // 1xx and 2xx are not failures.
constexpr IntegerRange extra_ms_range{0, 3'600'000};
constexpr NumberRange share_range{0, 1};
constexpr IntegerRange list_range{0, 100};

constexpr std::string_view preset_words =
    "patient, balanced, quick, steep, hourly, stepped, standard";

/// The items of an array of integers. Reports an invalid item and returns nullopt.
std::optional<std::vector<std::int64_t>> read_integers(ObjectReader& reader, std::string_view name,
                                                       IntegerRange range) {
  const JsonField<std::vector<std::string_view>> items = reader.array(name, list_range);
  if (!items.value) {
    return std::nullopt;
  }
  std::vector<std::int64_t> integers;
  for (std::size_t index = 0; index < items.value->size(); ++index) {
    const std::optional<std::int64_t> value = read_integer((*items.value)[index], range);
    if (!value) {
      reader.refuse(fmt::format("{}[{}]", name, index),
                    fmt::format("must be an integer from {} to {}.", range.min, range.max));
      return std::nullopt;
    }
    integers.push_back(*value);
  }
  return integers;
}

bool is_null(ObjectReader& reader, std::string_view name) { return reader.raw(name) == "null"; }

void read_schedule(ObjectReader& reader, const RetryPolicy& defaults, RetryPolicy& policy) {
  if (is_null(reader, "schedule_ms")) {
    policy.schedule = defaults.schedule;
    return;
  }
  if (const auto steps = read_integers(reader, "schedule_ms", delay_ms_range)) {
    policy.schedule.clear();
    for (const std::int64_t step : *steps) {
      policy.schedule.emplace_back(step);
    }
  }
}

void read_permanent_statuses(ObjectReader& reader, const RetryPolicy& defaults,
                             RetryPolicy& policy) {
  if (is_null(reader, "permanent_statuses")) {
    policy.permanent_statuses = defaults.permanent_statuses;
    return;
  }
  if (const auto statuses = read_integers(reader, "permanent_statuses", status_range)) {
    policy.permanent_statuses.clear();
    for (const std::int64_t status : *statuses) {
      policy.permanent_statuses.push_back(static_cast<std::uint16_t>(status));
    }
  }
}

/// Reads either a fraction of the delay in both directions, or `{minus, plus, extra_ms}`.
void read_jitter(ObjectReader& reader, const Jitter& fallback, Jitter& jitter) {
  const std::optional<std::string_view> slice = reader.raw("jitter");
  if (!slice) {
    return;
  }
  if (*slice == "null") {
    jitter = fallback;
    return;
  }
  if (const std::optional<double> share = read_number(*slice, share_range)) {
    jitter = {.minus = *share, .plus = *share, .extra = Millis{0}};
    return;
  }
  if (slice->front() != '{') {
    reader.refuse("jitter", "must be a number from 0 to 1, or an object {minus, plus, extra_ms}.");
    return;
  }
  JsonField<ObjectReader> parts = reader.object("jitter");
  if (parts.value) {
    assign(parts.value->number("minus", share_range), jitter.minus, 0.0);
    assign(parts.value->number("plus", share_range), jitter.plus, 0.0);
    assign_millis(parts.value->integer("extra_ms", extra_ms_range), jitter.extra, Millis{0});
    parts.value->finish();
  }
}

void read_max_attempts(ObjectReader& reader, const RetryPolicy& defaults, RetryPolicy& policy) {
  const std::optional<std::string_view> slice = reader.raw("max_attempts");
  if (!slice) {
    return;
  }
  if (*slice == "null") {
    policy.attempts_max = defaults.attempts_max;
    policy.attempts_auto = defaults.attempts_auto;
    return;
  }
  if (decode_json_string(*slice) == "auto") {
    policy.attempts_auto = true;
    return;
  }
  if (const std::optional<std::int64_t> count = read_integer(*slice, attempts_range)) {
    policy.attempts_max = static_cast<std::uint32_t>(*count);
    policy.attempts_auto = false;
    return;
  }
  reader.refuse("max_attempts", fmt::format("must be an integer from {} to {}, or \"auto\".",
                                            attempts_range.min, attempts_range.max));
}

/// Call after the delays and `max_attempts` have been read. A response that a client sends back has
/// both a number and `max_attempts_auto`; if that is true, the number is recomputed.
void read_attempts_auto(ObjectReader& reader, const RetryPolicy& defaults, RetryPolicy& policy) {
  assign(reader.boolean("max_attempts_auto"), policy.attempts_auto, defaults.attempts_auto);
  const std::optional<std::string_view> count = reader.raw("max_attempts");
  if (!policy.attempts_auto && count && decode_json_string(*count) == "auto") {
    reader.refuse("max_attempts_auto", "contradicts max_attempts. Send only one of them.");
  }
  apply_attempts_auto(policy);
}

std::optional<RetryPreset> preset_of(const RetryPolicy& policy) {
  constexpr std::array presets = {RetryPreset::patient, RetryPreset::balanced, RetryPreset::quick,
                                  RetryPreset::steep,   RetryPreset::hourly,   RetryPreset::stepped,
                                  RetryPreset::standard};
  const auto* found = std::ranges::find_if(
      presets, [&](RetryPreset preset) { return retry_policy(preset) == policy; });
  return found == presets.end() ? std::nullopt : std::optional{*found};
}

}  // namespace

void read_retry(ObjectReader& reader, const RetryPolicy& defaults, RetryPolicy& policy) {
  if (const auto preset = reader.choice("preset", parse_retry_preset, preset_words); preset.value) {
    policy = retry_policy(*preset.value);
  }
  assign_millis(reader.integer("base_delay_ms", delay_ms_range), policy.delay_base,
                defaults.delay_base);
  assign_millis(reader.integer("max_delay_ms", delay_ms_range), policy.delay_max,
                defaults.delay_max);
  assign(reader.number("backoff_multiplier", {1, 100}), policy.multiplier, defaults.multiplier);
  read_schedule(reader, defaults, policy);
  read_jitter(reader, defaults.jitter, policy.jitter);
  read_max_attempts(reader, defaults, policy);
  read_attempts_auto(reader, defaults, policy);
  assign_millis(reader.integer("timeout_ms", timeout_ms_range), policy.timeout, defaults.timeout);
  assign(reader.number("timeout_growth_factor", {1, 3}), policy.timeout_growth,
         defaults.timeout_growth);
  assign(reader.boolean("category_minimums"), policy.category_minimums, defaults.category_minimums);
  assign(reader.boolean("honor_retry_after"), policy.honor_retry_after, defaults.honor_retry_after);
  assign(reader.integer("ssl_max_attempts", attempts_range), policy.ssl_attempts_max,
         defaults.ssl_attempts_max);
  read_permanent_statuses(reader, defaults, policy);
  reader.finish();

  if (policy.delay_max < policy.delay_base) {
    reader.refuse("max_delay_ms", fmt::format("must be at least base_delay_ms, which is {}.",
                                              policy.delay_base.count()));
  }
}

void write_retry(JsonWriter& writer, const RetryPolicy& policy) {
  writer.open_object();
  const std::optional<RetryPreset> preset = preset_of(policy);
  writer.member("preset", preset ? std::optional{to_string(*preset)} : std::nullopt);
  writer.member("max_attempts", policy.attempts_max);
  writer.member("max_attempts_auto", policy.attempts_auto);
  writer.member("base_delay_ms", policy.delay_base.count());
  writer.member("max_delay_ms", policy.delay_max.count());
  writer.member("backoff_multiplier", policy.multiplier);
  writer.key("schedule_ms");
  writer.open_array();
  for (const Millis step : policy.schedule) {
    writer.value(step.count());
  }
  writer.close_array();
  writer.key("jitter");
  writer.open_object();
  writer.member("minus", policy.jitter.minus);
  writer.member("plus", policy.jitter.plus);
  writer.member("extra_ms", policy.jitter.extra.count());
  writer.close_object();
  writer.member("timeout_ms", policy.timeout.count());
  writer.member("timeout_growth_factor", policy.timeout_growth);
  writer.member("category_minimums", policy.category_minimums);
  writer.member("honor_retry_after", policy.honor_retry_after);
  writer.member("ssl_max_attempts", policy.ssl_attempts_max);
  writer.key("permanent_statuses");
  writer.open_array();
  for (const std::uint16_t status : policy.permanent_statuses) {
    writer.value(status);
  }
  writer.close_array();
  writer.close_object();
}

}  // namespace postrider::api
