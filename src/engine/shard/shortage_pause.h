// The pause of a shard after this server lacked a resource that every attempt needs. Without it, a
// shard with many waiting deliveries would try all of them in vain.
#pragma once

#include <algorithm>

#include "core/base/time.h"

namespace postrider {

/// A plain value.
class ShortagePause {
 public:
  /// An attempt could not be made. Begins a pause unless there is one. `draw` is uniform in [0, 1).
  void on_shortage(MonoTime now, double draw) {
    if (is_on(now)) {
      return;  // Attempts that were started together report the same shortage.
    }
    length_ = std::clamp(length_ * 2, length_min, length_max);
    const double share = 0.5 + draw / 2;  // So that shards do not try together.
    until_ = now + Micros{static_cast<Micros::rep>(static_cast<double>(length_.count()) * share)};
  }

  /// An attempt was made. The next pause is short again.
  void on_attempt() { length_ = Micros{0}; }

  [[nodiscard]] bool is_on(MonoTime now) const { return now < until_; }
  [[nodiscard]] MonoTime until() const { return until_; }

 private:
  // Short against the time that a receiver takes, long against a failed system call.
  static constexpr Micros length_min = std::chrono::milliseconds{50};
  static constexpr Micros length_max = std::chrono::seconds{1};

  Micros length_{0};
  MonoTime until_ = MonoTime::min();
};

}  // namespace postrider
