// When a new webhook's circuit opens and closes, unless it says otherwise.
#include "core/policy/breaker.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr Range calls_range{1, breaker_calls_max};
constexpr Range sleep_range{10, 604'800'000};
constexpr Bounds percentage_bounds{1, 100};

Setting preset() {
  Setting setting =
      text({"webhooks.circuit_breaker.preset",
            "The circuit breaker to start from; the other settings refine it."},
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
  return std::move(setting).starting("webhooks.circuit_breaker.");
}

void add_opening(std::vector<Setting>& all) {
  all.push_back(boolean({"webhooks.circuit_breaker.enabled", "Off: the circuit never opens."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.enabled)));
  all.push_back(choice({"webhooks.circuit_breaker.window",
                        "What is counted: the calls of the last window_size_ms (time), or the last "
                        "window_calls calls (count)."},
                       POSTRIDER_FIELD(webhooks.defaults.breaker.window),
                       Words{std::string{"time, count"}, parse_breaker_window}));
  all.push_back(integer({"webhooks.circuit_breaker.window_size_ms",
                         "With window = time: how far "
                         "back calls count."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.window_size), {100, 86'400'000}));
  all.push_back(integer({"webhooks.circuit_breaker.window_calls",
                         "With window = count: how many "
                         "calls count."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.window_calls), calls_range));
  all.push_back(integer({"webhooks.circuit_breaker.minimum_throughput",
                         "Fewer calls than this in the window never open it."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.minimum_throughput),
                        calls_range));
  all.push_back(number({"webhooks.circuit_breaker.error_threshold_percentage",
                        "The share of failures at which it opens."},
                       POSTRIDER_FIELD(webhooks.defaults.breaker.error_threshold_percentage),
                       percentage_bounds));
  all.push_back(integer({"webhooks.circuit_breaker.failure_count_threshold",
                         "Above 0: it opens at so many failures, whatever their share."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.failure_count_threshold),
                        {0, breaker_calls_max}));
}

}  // namespace

std::vector<Setting> breaker_settings() {
  std::vector<Setting> all;
  all.push_back(preset());
  add_opening(all);
  all.push_back(integer({"webhooks.circuit_breaker.sleep_window_ms", "How long it stays open."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.sleep_window), sleep_range));
  all.push_back(number(
      {"webhooks.circuit_breaker.sleep_multiplier", "How much longer each opening in a row lasts."},
      POSTRIDER_FIELD(webhooks.defaults.breaker.sleep_multiplier), {1, 10}));
  all.push_back(integer({"webhooks.circuit_breaker.sleep_max_ms", "The longest opening."},
                        POSTRIDER_FIELD(webhooks.defaults.breaker.sleep_max), sleep_range));
  all.push_back(integer(
      {"webhooks.circuit_breaker.half_open_max_calls", "Probes that decide whether it closes."},
      POSTRIDER_FIELD(webhooks.defaults.breaker.half_open_max_calls), {1, 100}));
  all.push_back(number({"webhooks.circuit_breaker.half_open_success_percentage",
                        "The share of probes that must succeed."},
                       POSTRIDER_FIELD(webhooks.defaults.breaker.half_open_success_percentage),
                       percentage_bounds));
  for (Setting& setting : all) {
    setting.reloads = true;
  }
  return all;
}

}  // namespace postrider::config
