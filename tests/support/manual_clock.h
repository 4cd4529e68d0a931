// A clock that moves only when a test moves it.
#pragma once

#include <chrono>
#include <mutex>

#include "ports/clock.h"

namespace postrider::test {

/// Any thread.
class ManualClock final : public Clock {
 public:
  ManualClock() = default;
  explicit ManualClock(WallTime at) : start_(at) {}

  [[nodiscard]] Moment now() const override {
    const std::lock_guard lock{mutex_};
    const WallTime steady = start_ + std::chrono::duration_cast<Millis>(elapsed_);
    return {steady + wall_jump_, mono_start + elapsed_, steady};
  }
  [[nodiscard]] MonoTime boot_time() const override {
    const std::lock_guard lock{mutex_};
    return mono_start + elapsed_ + suspended_;
  }

  void advance(Micros by) {
    const std::lock_guard lock{mutex_};
    elapsed_ += by;
  }
  /// Moves the wall clock alone.
  void jump_wall(Millis by) {
    const std::lock_guard lock{mutex_};
    wall_jump_ += by;
  }

  /// The machine is suspended for this time.
  void suspend(Millis by) {
    const std::lock_guard lock{mutex_};
    wall_jump_ += by;
    suspended_ += by;
  }

  static constexpr WallTime start = wall_from_unix_ms(1'767'225'600'000);  // 2026-01-01T00:00:00Z
  static constexpr MonoTime mono_start{std::chrono::hours{1}};

 private:
  const WallTime start_ = start;
  mutable std::mutex mutex_;  // Guards the three below.
  Millis wall_jump_{0};
  Millis suspended_{0};
  Micros elapsed_{0};
};

}  // namespace postrider::test
