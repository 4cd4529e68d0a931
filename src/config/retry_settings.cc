// The default retry policy of new webhooks.
#include "core/policy/retry.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr Range delay_range{1, 604'800'000};  // A week.
constexpr Bounds share_bounds{0, 1};

Setting preset() {
  Setting setting =
      text({"webhooks.retry.preset",
            "The retry policy to start from; the other retry settings refine it."},
           POSTRIDER_FIELD(webhooks.retry_preset),
           {"must be one of patient, balanced, quick, steep, hourly, stepped, "
            "standard",
            [](const std::string& name) { return parse_retry_preset(name).has_value(); }});
  setting.assign = [assign = setting.assign](Config& config, const Value& value) {
    if (!assign(config, value)) {
      return false;
    }
    config.webhooks.defaults.retry =
        retry_policy(*parse_retry_preset(std::get<std::string>(value)));
    return true;
  };
  return std::move(setting).as_preset_of("webhooks.retry.");
}

void add_delays(std::vector<Setting>& all) {
  all.push_back(integer({"webhooks.retry.base_delay_ms", "The delay after the first attempt."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.delay_base), delay_range));
  all.push_back(number({"webhooks.retry.backoff_multiplier",
                        "The factor by which each delay is longer than the previous one."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.multiplier), {1, 100}));
  all.push_back(integer({"webhooks.retry.max_delay_ms", "The longest delay."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.delay_max), delay_range));
  all.push_back(integers({"webhooks.retry.schedule_ms",
                          "Fixed delays instead of exponential backoff; the last one repeats. "
                          "Empty: exponential backoff."},
                         POSTRIDER_FIELD(webhooks.defaults.retry.schedule), delay_range));
  all.push_back(number({"webhooks.retry.jitter_minus",
                        "The largest fraction of a delay by which jitter shortens it."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.jitter.minus), share_bounds));
  all.push_back(number({"webhooks.retry.jitter_plus",
                        "The largest fraction of a delay by which jitter lengthens it."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.jitter.plus), share_bounds));
  all.push_back(integer({"webhooks.retry.jitter_extra_ms",
                         "The longest time that jitter adds to a delay, whatever its length."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.jitter.extra), {0, 3'600'000}));
}

/// A number or `auto`. `auto` is resolved after all settings are read, because it depends on the
/// delays.
Setting max_attempts() {
  Setting setting =
      integer({"webhooks.retry.max_attempts",
               "The number of attempts before a delivery becomes a dead letter. "
               "auto: one more than the number of doublings from base_delay_ms to max_delay_ms, "
               "rounded up, or than the number of delays in schedule_ms."},
              POSTRIDER_FIELD(webhooks.defaults.retry.attempts_max), {1, 100});
  setting.keyword = "auto";
  setting.rule += ", or \"auto\"";
  setting.assign = [assign = setting.assign](Config& config, const Value& value) {
    const bool is_auto = kind_of(value) == Kind::text;
    if (!is_auto && !assign(config, value)) {
      return false;
    }
    config.webhooks.defaults.retry.attempts_auto = is_auto;
    return true;
  };
  setting.read = [read = setting.read](const Config& config) -> Value {
    return config.webhooks.defaults.retry.attempts_auto ? Value{std::string{"auto"}} : read(config);
  };
  return setting;
}

}  // namespace

std::vector<Setting> retry_settings() {
  std::vector<Setting> all;
  all.push_back(preset());
  add_delays(all);
  all.push_back(max_attempts());
  all.push_back(integer({"webhooks.retry.timeout_ms", "The longest time for one attempt."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.timeout), {10, 300'000}));
  all.push_back(number({"webhooks.retry.timeout_growth_factor",
                        "The factor by which each attempt may take longer than the previous one, "
                        "up to three times the first."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.timeout_growth), {1, 3}));
  all.push_back(
      boolean({"webhooks.retry.category_minimums",
               "Wait at least 60 s after a 429, 5 s after a DNS failure and 2 s after a timeout."},
              POSTRIDER_FIELD(webhooks.defaults.retry.category_minimums)));
  all.push_back(boolean({"webhooks.retry.honor_retry_after",
                         "Wait at least as long as the receiver's Retry-After says, but not longer "
                         "than max_delay_ms."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.honor_retry_after)));
  all.push_back(integer({"webhooks.retry.ssl_max_attempts",
                         "The number of attempts before a delivery that fails with a TLS error "
                         "becomes a dead letter, if max_attempts allows more."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.ssl_attempts_max), {1, 100}));
  all.push_back(integers({"webhooks.retry.permanent_statuses",
                          "HTTP statuses that make a delivery a dead letter immediately."},
                         POSTRIDER_FIELD(webhooks.defaults.retry.permanent_statuses), {300, 599}));
  for (Setting& setting : all) {
    setting.reloads = true;
  }
  return all;
}

}  // namespace postrider::config
