// The metric webhook_circuit_breaker_state: one series for each webhook whose circuit is not
// closed, up to a limit. All other webhooks are counted together.
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/ids.h"
#include "core/policy/breaker.h"
#include "ports/metric_sample.h"

namespace postrider {

// With a label of their own. Larger than label_values_max: each has only one series, and only
// while its receiver fails.
constexpr std::size_t circuit_series_max = 1'000;

class CircuitStates {
 public:
  void set(WebhookId webhook_id, CircuitState state);
  void forget(WebhookId webhook_id) { set(webhook_id, CircuitState::closed); }

  /// `closed` is the number of closed circuits.
  [[nodiscard]] std::vector<MetricSample> samples(std::uint32_t closed) const;

 private:
  mutable std::mutex mutex_;
  std::map<WebhookId, CircuitState> not_closed_;
};

}  // namespace postrider
