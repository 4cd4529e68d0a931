// The default circuit breaker of new webhooks.
#include "core/policy/breaker.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr Range calls_range{1, breaker_calls_max};
constexpr Range sleep_range{10, 604'800'000};
constexpr Bounds percentage_bounds{1, 100};

Setting preset() {
  Setting setting = text(
      {"webhooks.circuit_breaker.preset",
       "The circuit breaker policy to start from; the other circuit breaker settings refine it."},
      POSTRIDER_FIELD(webhooks.breaker_preset),
      {"must be one of standard, patient, sensitive",
       [](const std::string& name) { return parse_breaker_preset(name).has_value(); }});
  setting.assign = [assign = setting.assign](Config& config, const Value& value) {
    if (!assign(config, value)) {
      return false;
    }
    config.webhooks.defaults.breaker =
        breaker_policy(*parse_breaker_preset(std::get<std::string>(value)));
    return true;
  };
  return std::move(setting).as_preset_of("webhooks.circuit_breaker.");
}

void add_opening(std::vector<Setting>& all) {
  all.push_back(boolean({"webhooks.circuit_breaker.enabled", "Whether the circuit can open."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.enabled)));
  all.push_back(choice({"webhooks.circuit_breaker.window",
                        "Which calls are counted: those of the last window_size_ms (time), or the "
                        "last window_calls calls (count)."},
                       POSTRIDER_FIELD(webhooks.defaults.breaker.window),
                       Words{std::string{"time, count"}, parse_breaker_window}));
  all.push_back(integer(
      {"webhooks.circuit_breaker.window_size_ms", "With window = time: the length of the window."},
      POSTRIDER_FIELD(webhooks.defaults.breaker.window_size), {100, 86'400'000}));
  all.push_back(integer({"webhooks.circuit_breaker.window_calls",
                         "With window = count: the number of calls in the window."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.window_calls), calls_range));
  all.push_back(integer({"webhooks.circuit_breaker.minimum_throughput",
                         "With fewer calls than this in the window, the circuit does not open."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.minimum_throughput),
                        calls_range));
  all.push_back(number({"webhooks.circuit_breaker.error_threshold_percentage",
                        "The percentage of failed calls at which the circuit opens."},
                       POSTRIDER_FIELD(webhooks.defaults.breaker.error_threshold_percentage),
                       percentage_bounds));
  all.push_back(integer(
      {"webhooks.circuit_breaker.failure_count_threshold",
       "Above 0: the circuit opens at this number of failures, whatever their percentage."},
      POSTRIDER_FIELD(webhooks.defaults.breaker.failure_count_threshold), {0, breaker_calls_max}));
  all.push_back(
      integer({"webhooks.circuit_breaker.consecutive_failure_threshold",
               "Above 0: the circuit also opens at this number of timeouts in a row, however few "
               "calls are in the window."},
              POSTRIDER_FIELD(webhooks.defaults.breaker.consecutive_failure_threshold),
              {0, breaker_calls_max}));
}

}  // namespace

std::vector<Setting> breaker_settings() {
  std::vector<Setting> all;
  all.push_back(preset());
  add_opening(all);
  all.push_back(
      integer({"webhooks.circuit_breaker.sleep_window_ms", "How long the circuit stays open."},
              POSTRIDER_FIELD(webhooks.defaults.breaker.sleep_window), sleep_range));
  all.push_back(
      number({"webhooks.circuit_breaker.sleep_multiplier",
              "The factor by which the open time grows each time the circuit opens again."},
             POSTRIDER_FIELD(webhooks.defaults.breaker.sleep_multiplier), {1, 10}));
  all.push_back(
      integer({"webhooks.circuit_breaker.sleep_max_ms",
               "The longest open time. A longer sleep_window_ms raises it, unless it is set "
               "explicitly."},
              POSTRIDER_FIELD(webhooks.defaults.breaker.sleep_max), sleep_range));
  all.push_back(integer({"webhooks.circuit_breaker.half_open_max_calls",
                         "The number of probes that decide whether the circuit closes."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.half_open_max_calls), {1, 100}));
  all.push_back(number({"webhooks.circuit_breaker.half_open_success_percentage",
                        "The percentage of probes that must succeed."},
                       POSTRIDER_FIELD(webhooks.defaults.breaker.half_open_success_percentage),
                       percentage_bounds));
  for (Setting& setting : all) {
    setting.reloads = true;
  }
  return all;
}

}  // namespace postrider::config
