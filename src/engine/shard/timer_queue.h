// The earliest of many timers: at most one time per item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"

namespace postrider {

/// An indexed binary heap, O(log n). Items are small integers, times are WallTime or MonoTime.
/// Items with the same time are ordered by number, so that runs are reproducible.
template <class Time>
class TimerQueue {
 public:
  /// Replaces the item's time; nullopt removes the item.
  void set(std::uint32_t item, std::optional<Time> at);

  /// The earliest time.
  [[nodiscard]] std::optional<Time> next() const;

  /// Removes and returns the earliest item if it is due.
  [[nodiscard]] std::optional<std::uint32_t> pop_due(Time now);

  [[nodiscard]] std::size_t size() const { return heap_.size(); }

 private:
  static constexpr std::uint32_t absent = UINT32_MAX;

  struct Slot {
    Time at;
    std::uint32_t item = 0;

    auto operator<=>(const Slot&) const = default;
  };

  void remove(std::size_t position);
  void sift_up(std::size_t position, Slot slot);
  void sift_down(std::size_t position, Slot slot);
  void put(std::size_t position, Slot slot);

  std::vector<Slot> heap_;
  std::vector<std::uint32_t> positions_;  // By item.
};

extern template class TimerQueue<WallTime>;
extern template class TimerQueue<MonoTime>;

}  // namespace postrider
