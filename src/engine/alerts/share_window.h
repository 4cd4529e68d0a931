// The share of recent attempts with some property, over a sliding window of time slices. A plain
// value. All times are steady wall times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/time.h"

namespace postrider {

/// A window is divided into this many slices of time. It consists of the current slice and those
/// before it.
constexpr std::size_t window_slices = 10;
/// The number of the slice that contains `time`.
[[nodiscard]] std::int64_t slice_of(WallTime time, Millis window);

class ShareWindow {
 public:
  struct Count {
    std::uint64_t total = 0;
    std::uint64_t part = 0;  // Included in the total.

    bool operator==(const Count&) const = default;
  };

  /// `window` must be the same in every call. Assign `{}` before using another one.
  void add(Count count, WallTime now, Millis window);
  /// The sum of the current slice and the nine before it.
  [[nodiscard]] Count sum(WallTime now, Millis window) const;

 private:
  struct Slice {
    std::int64_t number = -1;
    std::uint32_t total = 0;
    std::uint32_t part = 0;
  };

  std::array<Slice, window_slices> slices_{};
};

}  // namespace postrider
