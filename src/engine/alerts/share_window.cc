#include "engine/alerts/share_window.h"

#include <algorithm>

#include "core/base/assert.h"

namespace postrider {

std::int64_t slice_of(WallTime time, Millis window) {
  const std::int64_t length = window.count() / static_cast<std::int64_t>(window_slices);
  return to_unix_ms(time) / std::max<std::int64_t>(length, 1);
}

void ShareWindow::add(Count count, WallTime now, Millis window) {
  POSTRIDER_ASSERT(count.part <= count.total);
  const std::int64_t number = slice_of(now, window);
  POSTRIDER_ASSERT(number >= 0);
  Slice& slice = slices_[static_cast<std::size_t>(number) % window_slices];
  if (slice.number != number) {
    slice = Slice{.number = number};
  }
  slice.total += static_cast<std::uint32_t>(count.total);
  slice.part += static_cast<std::uint32_t>(count.part);
}

ShareWindow::Count ShareWindow::sum(WallTime now, Millis window) const {
  const std::int64_t newest = slice_of(now, window);
  Count sum;
  for (const Slice& slice : slices_) {
    if (slice.number > newest - static_cast<std::int64_t>(window_slices)) {
      sum.total += slice.total;
      sum.part += slice.part;
    }
  }
  return sum;
}

}  // namespace postrider
