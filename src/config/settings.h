// The table of all settings, in the order in which they are printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/setting.h"

namespace postrider::config {

/// Each returns one section of the table.
[[nodiscard]] std::vector<Setting> server_settings();
[[nodiscard]] std::vector<Setting> cluster_settings();
[[nodiscard]] std::vector<Setting> api_settings();
[[nodiscard]] std::vector<Setting> portal_settings();
[[nodiscard]] std::vector<Setting> engine_settings();
[[nodiscard]] std::vector<Setting> retry_settings();
[[nodiscard]] std::vector<Setting> breaker_settings();
[[nodiscard]] std::vector<Setting> webhook_settings();
[[nodiscard]] std::vector<Setting> retention_settings();
[[nodiscard]] std::vector<Setting> tracing_settings();
[[nodiscard]] std::vector<Setting> source_default_settings();
[[nodiscard]] std::vector<Setting> notification_settings();

/// Reads `tracing.endpoint`. Without a path, /v1/traces is appended. Fails with invalid.
[[nodiscard]] Result<TargetUrl> parse_collector_url(std::string_view text);

[[nodiscard]] const std::vector<Setting>& all_settings();

/// Returns nullptr if there is no such setting.
[[nodiscard]] const Setting* find_setting(std::string_view key);

/// The environment variable of a setting: `api.body_bytes_max` is POSTRIDER_API_BODY_BYTES_MAX.
[[nodiscard]] std::string variable_of(std::string_view key);

[[nodiscard]] std::string_view to_string(KeyDerivation derivation);
[[nodiscard]] std::optional<KeyDerivation> parse_key_derivation(std::string_view text);
[[nodiscard]] std::string_view to_string(RepeatInProgress answer);
[[nodiscard]] std::optional<RepeatInProgress> parse_repeat_in_progress(std::string_view text);
[[nodiscard]] std::string_view to_string(LogFormat format);
[[nodiscard]] std::optional<LogFormat> parse_log_format(std::string_view text);
[[nodiscard]] std::string_view to_string(LogAccess access);
[[nodiscard]] std::optional<LogAccess> parse_log_access(std::string_view text);

/// The key prefix and the subject of the help texts of a rate limit.
struct RateTexts {
  std::string prefix;
  std::string what;
};

/// Adds `requests_per_second`, `requests_per_minute` and `burst`.
template <class Field>
void add_rate(std::vector<Setting>& settings, const RateTexts& texts, Field field, bool reloads) {
  // Setting one unit clears the other, so that a later source replaces the rate of an earlier one.
  Setting per_second = integer(
      {texts.prefix + "requests_per_second", texts.what + " per second; 0: no limit per second."},
      [field](auto& config) -> auto& { return field(config).per_second; }, {0, 1'000'000});
  per_second.assign = [field, assign = per_second.assign](Config& config, const Value& value) {
    if (!assign(config, value)) {
      return false;
    }
    RateSetting& rate = field(config);
    rate.per_minute = rate.per_second > 0 ? 0 : rate.per_minute;
    return true;
  };
  Setting per_minute = integer(
      {texts.prefix + "requests_per_minute", texts.what + " per minute; 0: no limit per minute."},
      [field](auto& config) -> auto& { return field(config).per_minute; }, {0, 60'000'000});
  per_minute.assign = [field, assign = per_minute.assign](Config& config, const Value& value) {
    if (!assign(config, value)) {
      return false;
    }
    RateSetting& rate = field(config);
    rate.per_second = rate.per_minute > 0 ? 0 : rate.per_second;
    return true;
  };
  Setting burst =
      integer({texts.prefix + "burst", "The largest burst; 0: the rate of one second."},
              [field](auto& config) -> auto& { return field(config).burst; }, {0, 1'000'000});
  for (Setting* setting : {&per_second, &per_minute, &burst}) {
    setting->reloads = reloads;
    settings.push_back(std::move(*setting));
  }
}

}  // namespace postrider::config

/// A function from a Config, const or not, to the field `path`.
#define POSTRIDER_FIELD(path) ([](auto& config) -> auto& { return config.path; })
