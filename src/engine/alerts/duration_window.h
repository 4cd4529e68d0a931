// The durations of recent slow attempts, over the same sliding window as a ShareWindow. A plain
// value. All times are steady wall times.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/time.h"
#include "core/model/duration_histogram.h"
#include "engine/alerts/share_window.h"

namespace postrider {

class DurationWindow {
 public:
  /// `window` must be the same in every call. Assign `{}` before using another one.
  void add(const DurationHistogram& durations, WallTime now, Millis window);
  [[nodiscard]] DurationHistogram sum(WallTime now, Millis window) const;

 private:
  struct Slice {
    std::int64_t number = -1;
    DurationHistogram durations;
  };

  std::array<Slice, window_slices> slices_{};
};

}  // namespace postrider
