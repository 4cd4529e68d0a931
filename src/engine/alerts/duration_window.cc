#include "engine/alerts/duration_window.h"

#include "core/base/assert.h"

namespace postrider {

void DurationWindow::add(const DurationHistogram& durations, WallTime now, Millis window) {
  const std::int64_t number = slice_of(now, window);
  POSTRIDER_ASSERT(number >= 0);
  Slice& slice = slices_[static_cast<std::size_t>(number) % window_slices];
  if (slice.number != number) {
    slice = Slice{.number = number, .durations = {}};
  }
  slice.durations.add(durations);
}

DurationHistogram DurationWindow::sum(WallTime now, Millis window) const {
  const std::int64_t newest = slice_of(now, window);
  DurationHistogram sum;
  for (const Slice& slice : slices_) {
    if (slice.number > newest - static_cast<std::int64_t>(window_slices)) {
      sum.add(slice.durations);
    }
  }
  return sum;
}

}  // namespace postrider
