// When a new webhook's deliveries are tried again, unless it says otherwise.
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
  return std::move(setting).starting("webhooks.retry.");
}

void add_delays(std::vector<Setting>& all) {
  all.push_back(integer({"webhooks.retry.base_delay_ms", "The delay after the first attempt."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.delay_base), delay_range));
  all.push_back(number({"webhooks.retry.backoff_multiplier",
                        "How much longer each delay is than "
                        "the one before."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.multiplier), {1, 100}));
  all.push_back(integer({"webhooks.retry.max_delay_ms", "The longest delay."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.delay_max), delay_range));
  all.push_back(integers({"webhooks.retry.schedule_ms",
                          "Fixed delays instead of the formula; the last one repeats. Empty: the "
                          "formula."},
                         POSTRIDER_FIELD(webhooks.defaults.retry.schedule), delay_range));
  all.push_back(number({"webhooks.retry.jitter_minus",
                        "The share of a delay by which chance may "
                        "shorten it."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.jitter.minus), share_bounds));
  all.push_back(number({"webhooks.retry.jitter_plus",
                        "The share of a delay by which chance may "
                        "lengthen it."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.jitter.plus), share_bounds));
  all.push_back(integer({"webhooks.retry.jitter_extra_ms",
                         "What chance may add to a delay, "
                         "however long it is."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.jitter.extra), {0, 3'600'000}));
}

/// A number, or `auto`, which becomes one when all settings are known: it depends on the delays.
Setting max_attempts() {
  Setting setting = integer({"webhooks.retry.max_attempts",
                             "Attempts before a delivery becomes a dead letter. auto: as many as "
                             "double the base delay up to the longest, or as schedule_ms has "
                             "steps, and one more."},
                            POSTRIDER_FIELD(webhooks.defaults.retry.attempts_max), {1, 100});
  setting.word = "auto";
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
  all.push_back(integer({"webhooks.retry.timeout_ms", "How long one attempt may take."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.timeout), {10, 300'000}));
  all.push_back(number({"webhooks.retry.timeout_growth_factor",
                        "How much longer each attempt may take than the one before; never more "
                        "than three times the first."},
                       POSTRIDER_FIELD(webhooks.defaults.retry.timeout_growth), {1, 3}));
  all.push_back(boolean({"webhooks.retry.category_minimums",
                         "Wait at least 60 s after a 429, 5 s after a name that could not be "
                         "resolved, 2 s after a timeout."},
                        POSTRIDER_FIELD(webhooks.defaults.retry.category_minimums)));
  all.push_back(integers(
      {"webhooks.retry.permanent_statuses", "Answers that make a delivery a dead letter at once."},
      POSTRIDER_FIELD(webhooks.defaults.retry.permanent_statuses), {300, 599}));
  for (Setting& setting : all) {
    setting.reloads = true;
  }
  return all;
}

}  // namespace postrider::config
