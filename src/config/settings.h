// The table of every setting, in the order in which it is printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/setting.h"

namespace postrider::config {

/// One section of the table each.
[[nodiscard]] std::vector<Setting> server_settings();
[[nodiscard]] std::vector<Setting> api_settings();
[[nodiscard]] std::vector<Setting> engine_settings();
[[nodiscard]] std::vector<Setting> retry_settings();
[[nodiscard]] std::vector<Setting> breaker_settings();
[[nodiscard]] std::vector<Setting> webhook_settings();
[[nodiscard]] std::vector<Setting> keeping_settings();

/// All of them.
[[nodiscard]] const std::vector<Setting>& all_settings();

/// Null when there is none.
[[nodiscard]] const Setting* find_setting(std::string_view key);

/// `api.body_bytes_max` is POSTRIDER_API_BODY_BYTES_MAX.
[[nodiscard]] std::string variable_of(std::string_view key);

[[nodiscard]] std::string_view to_string(KeyDerivation derivation);
[[nodiscard]] std::optional<KeyDerivation> parse_key_derivation(std::string_view text);
[[nodiscard]] std::string_view to_string(LogFormat format);
[[nodiscard]] std::optional<LogFormat> parse_log_format(std::string_view text);

/// `requests_per_second`, `requests_per_minute` and `burst` under `prefix`, about `what`.
struct RateTexts {
  std::string prefix;
  std::string what;
};

template <class Field>
void add_rate(std::vector<Setting>& settings, const RateTexts& texts, Field field, bool reloads) {
  // Said in the other unit by a layer above, a rate replaces the one below.
  Setting per_second =
      integer({texts.prefix + "requests_per_second", texts.what + ", a second; 0: not limited so."},
              [field](auto& config) -> auto& { return field(config).per_second; }, {0, 1'000'000});
  per_second.assign = [field, assign = per_second.assign](Config& config, const Value& value) {
    if (!assign(config, value)) {
      return false;
    }
    RateSetting& rate = field(config);
    rate.per_minute = rate.per_second > 0 ? 0 : rate.per_minute;
    return true;
  };
  Setting per_minute =
      integer({texts.prefix + "requests_per_minute", texts.what + ", a minute; 0: not limited so."},
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
      integer({texts.prefix + "burst", "How many may come at once; 0: one second's worth."},
              [field](auto& config) -> auto& { return field(config).burst; }, {0, 1'000'000});
  for (Setting* setting : {&per_second, &per_minute, &burst}) {
    setting->reloads = reloads;
    settings.push_back(std::move(*setting));
  }
}

}  // namespace postrider::config

/// Where a setting's value lives, for constant and changeable configurations alike.
#define POSTRIDER_FIELD(path) [](auto& config) -> auto& { return config.path; }
