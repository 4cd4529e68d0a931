// The share of recent attempts with some property, over a sliding window of time slices. A plain
// value. All times are steady wall times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/time.h"

namespace postrider {

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
  static constexpr std::size_t slice_count = 10;
  struct Slice {
    std::int64_t number = -1;
    std::uint32_t total = 0;
    std::uint32_t part = 0;
  };

  std::array<Slice, slice_count> slices_{};
};

}  // namespace postrider
