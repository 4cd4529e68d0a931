// A clock that moves only when a test moves it.
#pragma once

#include <chrono>
#include <mutex>

#include "ports/clock.h"

namespace postrider::test {

/// Any thread.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override {
    const std::lock_guard lock{mutex_};
    return {start + std::chrono::duration_cast<Millis>(passed_), MonoTime{} + passed_};
  }

  void pass(Micros by) {
    const std::lock_guard lock{mutex_};
    passed_ += by;
  }

  static constexpr WallTime start = wall_from_unix_ms(1'767'225'600'000);  // 2026-01-01T00:00:00Z

 private:
  mutable std::mutex mutex_;
  Micros passed_{0};
};

}  // namespace postrider::test
