// Which failures of a call that is repeated all the time are logged, so that an outage does not
// fill the log: the first of a row, then one per period.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"

namespace postrider {

/// Not synchronized.
class RepeatedFailure {
 public:
  explicit RepeatedFailure(Millis period) : period_(period) {}

  /// Returns how many failures to log now: those since the last one that was logged, with this one.
  /// Nullopt: do not log.
  [[nodiscard]] std::optional<std::uint64_t> failed(MonoTime now) {
    ++unlogged_;
    if (logged_at_ && now - *logged_at_ < period_) {
      return std::nullopt;
    }
    logged_at_ = now;
    const std::uint64_t count = unlogged_;
    unlogged_ = 0;
    return count;
  }

  /// Ends the row.
  void succeeded() {
    logged_at_.reset();
    unlogged_ = 0;
  }

 private:
  Millis period_;
  std::optional<MonoTime> logged_at_;  // In this row.
  std::uint64_t unlogged_ = 0;
};

}  // namespace postrider
