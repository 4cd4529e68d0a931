// Smooth weighted round robin over the priorities: they share the capacity 8:4:1 and never starve.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "core/base/assert.h"
#include "core/model/event.h"

namespace postrider {

using PrioritySet = std::bitset<priority_count>;

constexpr std::array<std::int32_t, priority_count> priority_weights{8, 4, 1};

class PriorityTurns {
 public:
  /// The priority that is furthest behind its share; on a tie the higher one.
  [[nodiscard]] std::size_t choose(PrioritySet available) const {
    std::size_t best = priority_count;
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
      if (!available[priority]) {
        continue;
      }
      if (best == priority_count ||
          credit_[priority] + priority_weights[priority] > credit_[best] + priority_weights[best]) {
        best = priority;
      }
    }
    POSTRIDER_ASSERT(best < priority_count);
    return best;
  }

  /// Only the available priorities earn credit; the chosen one pays for all of them.
  void take(PrioritySet available, std::size_t chosen) {
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
      if (available[priority]) {
        credit_[priority] += priority_weights[priority];
        credit_[chosen] -= priority_weights[priority];
      }
    }
  }

 private:
  std::array<std::int32_t, priority_count> credit_{};
};

}  // namespace postrider
