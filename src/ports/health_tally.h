// Sums a webhook's attempts up into its health, once for every History. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "ports/history.h"

namespace postrider {

/// Takes at most health_attempts_max attempts, in any order.
class HealthTally {
 public:
  /// `failure` none: it succeeded.
  void add(std::optional<FailureCategory> failure, Micros duration) {
    ++health_.attempts;
    durations_.push_back(duration);
    if (failure) {
      ++health_.failures[*failure];
    } else {
      ++health_.succeeded;
    }
  }

  /// Everything about attempts but the times of the last ones, which reach further back.
  [[nodiscard]] WebhookHealth finish() {
    std::ranges::sort(durations_);
    health_.duration_p50 = percentile(50);
    health_.duration_p95 = percentile(95);
    health_.duration_p99 = percentile(99);
    return health_;
  }

 private:
  /// Nearest rank: the smallest duration that at least so many per cent do not exceed.
  [[nodiscard]] Micros percentile(std::size_t percent) const {
    if (durations_.empty()) {
      return Micros{0};
    }
    return durations_[(durations_.size() * percent + 99) / 100 - 1];
  }

  WebhookHealth health_;
  std::vector<Micros> durations_;
};

}  // namespace postrider
