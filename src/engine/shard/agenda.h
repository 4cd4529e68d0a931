// What is due when: at most one time per item, the earliest found at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"

namespace postrider {

/// A binary heap that knows where each item is. Items are small integers, times are WallTime or
/// MonoTime. O(log n); items with the same time come in the order of their numbers, so that a run
/// can be repeated exactly.
template <class Time>
class Agenda {
 public:
  /// Replaces the item's time; nullopt takes it off.
  void set(std::uint32_t item, std::optional<Time> at);

  [[nodiscard]] std::optional<Time> next() const;

  /// Takes off the earliest item if its time has come.
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

extern template class Agenda<WallTime>;
extern template class Agenda<MonoTime>;

}  // namespace postrider
