// Sums a webhook's attempts up into its health, once for every History. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/attempt.h"
#include "core/time.h"
#include "ports/history.h"

namespace postrider {

/// What health needs to know of an attempt.
struct AttemptSummary {
  WallTime executed_at;
  std::optional<FailureCategory> failure;  // None: succeeded.
  Micros duration{0};
};

/// Takes attempts in any order, at most health_attempts_max of them.
class HealthTally {
 public:
  void add(const AttemptSummary& attempt) {
    ++health_.attempts;
    durations_.push_back(attempt.duration);
    if (attempt.failure) {
      ++health_.failures[*attempt.failure];
      note_failure(attempt.executed_at);
    } else {
      ++health_.succeeded;
      note_success(attempt.executed_at);
    }
  }

  /// The latest of a kind may be older than the attempts that are counted.
  void note_success(WallTime at) {
    health_.last_success_at = std::max(health_.last_success_at.value_or(at), at);
  }
  void note_failure(WallTime at) {
    health_.last_failure_at = std::max(health_.last_failure_at.value_or(at), at);
  }

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
