// How long a webhook holds its slots, and how many attempts it may have in flight as a result
// (P5).
//
// Every attempt that hangs halves the number of attempts in flight, down to one; every attempt that
// is answered adds one, up to the webhook's own limit (additive increase, multiplicative decrease).
// So a silent receiver costs one slot, and a receiver that always answers is never limited.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/time.h"
#include "engine/shard/slot_rank.h"

namespace postrider {

/// An attempt that takes longer than this holds its slot long. Most receivers answer within a
/// tenth of it.
constexpr Micros slow_after = std::chrono::seconds{2};

class LaneStanding {
 public:
  [[nodiscard]] Standing standing() const { return standing_; }
  [[nodiscard]] SlotRank rank(std::uint32_t in_flight) const {
    switch (standing_) {
      case Standing::unknown:
        return in_flight == 0 ? SlotRank::unknown : SlotRank::further;
      case Standing::proven:
        return in_flight == 0 ? SlotRank::idle : SlotRank::proven;
      case Standing::suspect:
        break;
    }
    return SlotRank::suspect;
  }
  /// The most attempts in flight, if the webhook allows `max`.
  [[nodiscard]] std::uint32_t in_flight_max(std::uint32_t max) const {
    return std::min(max, limit_);
  }

  struct EndedAttempt {
    MonoTime began;
    bool hung = false;      // It timed out, or failed after a long time.
    bool was_slow = false;  // on_slow was called for it.
  };
  void on_ended(const EndedAttempt& attempt, MonoTime now, std::uint32_t max) {
    const bool soon = now - attempt.began < slow_after;
    standing_ = soon && !attempt.hung ? Standing::proven : Standing::suspect;
    if (!attempt.hung) {
      limit_ = limit_ < max ? limit_ + 1 : unlimited;
      answered_at_ = now;
    } else if (!attempt.was_slow) {
      shrink(max);
    }
  }

  /// An attempt has been in flight for `slow_after`. Nothing is known about it yet, unless the
  /// receiver has not answered any other attempt since it began either.
  void on_slow(MonoTime began, std::uint32_t max) {
    if (answered_at_ < began) {
      standing_ = Standing::suspect;
      shrink(max);
    }
  }

  /// The last attempt before a restart took this long.
  void restore(Micros took) {
    standing_ = took < slow_after ? Standing::proven : Standing::suspect;
  }

 private:
  static constexpr std::uint32_t unlimited = UINT32_MAX;

  void shrink(std::uint32_t max) { limit_ = std::max(std::min(limit_, max) / 2, 1u); }

  Standing standing_ = Standing::unknown;
  std::uint32_t limit_ = unlimited;
  MonoTime answered_at_ = MonoTime::min();
};

}  // namespace postrider
