// A number of deliveries for each priority, or the change of one.
#pragma once

#include <array>
#include <cstdint>

#include "core/model/event.h"

namespace postrider {

struct PriorityCounts {
  std::array<std::int64_t, priority_count> values{};  // By Priority.

  [[nodiscard]] constexpr std::int64_t& operator[](Priority priority) {
    return values[static_cast<std::size_t>(priority)];
  }
  [[nodiscard]] constexpr std::int64_t operator[](Priority priority) const {
    return values[static_cast<std::size_t>(priority)];
  }
  [[nodiscard]] constexpr std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t value : values) {
      sum += value;
    }
    return sum;
  }
  constexpr PriorityCounts& operator+=(const PriorityCounts& other) {
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
      values[priority] += other.values[priority];
    }
    return *this;
  }
  constexpr PriorityCounts& operator-=(const PriorityCounts& other) {
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
      values[priority] -= other.values[priority];
    }
    return *this;
  }

  bool operator==(const PriorityCounts&) const = default;
};

}  // namespace postrider
