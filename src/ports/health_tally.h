// Computes a webhook's health from its attempts, shared by all History implementations. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "ports/history.h"

namespace postrider {

/// Add at most health_attempts_max attempts, in any order.
class HealthTally {
 public:
  /// `failure` is nullopt if the attempt succeeded.
  void add(std::optional<FailureCategory> failure, Micros duration) {
    ++health_.attempts;
    durations_.push_back(duration);
    if (failure) {
      ++health_.failures[*failure];
    } else {
      ++health_.succeeded;
    }
  }

  /// Everything but last_success_at, last_failure_at and deliveries.
  [[nodiscard]] WebhookHealth finish() {
    std::ranges::sort(durations_);
    health_.duration_p50 = percentile(50);
    health_.duration_p95 = percentile(95);
    health_.duration_p99 = percentile(99);
    return health_;
  }

 private:
  /// Nearest rank: the smallest duration that at least `percent` of all do not exceed.
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
