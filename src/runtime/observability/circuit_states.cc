#include "runtime/observability/circuit_states.h"

#include <array>
#include <string>

namespace postrider {
namespace {

MetricSample sample(std::string webhook_id, CircuitState state, double value) {
  return {
      .name = "webhook_circuit_breaker_state",
      .help =
          "1 for a webhook whose circuit is in the state; other: the number of webhooks "
          "without a series of their own, such as all closed ones",
      .labels = {{"state", std::string{to_string(state)}}, {"webhook_id", std::move(webhook_id)}},
      .value = value};
}

}  // namespace

void CircuitStates::set(WebhookId webhook_id, CircuitState state) {
  const std::lock_guard lock{mutex_};
  if (state == CircuitState::closed) {
    not_closed_.erase(webhook_id);
  } else {
    not_closed_[webhook_id] = state;
  }
}

std::vector<MetricSample> CircuitStates::samples(std::uint32_t closed) const {
  std::vector<MetricSample> samples;
  std::array<std::uint32_t, 3> others{};
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [webhook_id, state] : not_closed_) {
      if (samples.size() < circuit_series_max) {
        samples.push_back(sample(webhook_id.to_string(), state, 1));
      } else {
        ++others[static_cast<std::size_t>(state)];
      }
    }
  }
  others[static_cast<std::size_t>(CircuitState::closed)] = closed;
  for (std::size_t state = 0; state < others.size(); ++state) {
    samples.push_back(sample("other", static_cast<CircuitState>(state), others[state]));
  }
  return samples;
}

}  // namespace postrider
