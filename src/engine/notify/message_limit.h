// How many messages a notification channel may send within an hour. Pure. All times are steady wall
// times.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

#include "core/base/time.h"

namespace postrider {

class MessageLimit {
 public:
  static constexpr Millis period = std::chrono::hours{1};

  void sent(WallTime at);
  /// Forgets messages that no longer count.
  void advance(WallTime now);

  // `max` is at least 1.

  [[nodiscard]] bool has_room(std::size_t max) const { return sent_.size() < max; }
  /// When there is room for a further message; a past time if there is.
  [[nodiscard]] WallTime room_at(std::size_t max) const;
  [[nodiscard]] bool is_idle(WallTime now) const;

 private:
  std::deque<WallTime> sent_;  // Oldest first.
};

}  // namespace postrider
