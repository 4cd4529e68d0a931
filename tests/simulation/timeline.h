// Virtual time: what happens when, in an order that depends on nothing but the seed.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "core/base/time.h"
#include "core/policy/steady_wall.h"

namespace postrider::sim {

class Timeline {
 public:
  using Act = std::function<void()>;

  [[nodiscard]] Moment now() const {
    Moment now{wall_at(mono_), mono_};
    now.steady = steady_wall_.read(now);
    return now;
  }
  [[nodiscard]] MonoTime mono() const { return mono_; }

  void at(MonoTime when, Act act) {
    happenings_.push({when < mono_ ? mono_ : when, next_order_++, std::move(act)});
  }
  void after(Micros delay, Act act) { at(mono_ + delay, std::move(act)); }

  /// The wall clock is set, forwards or back.
  void jump(Millis by) { wall_offset_ += by; }

  /// A new process knows only what the wall clock says now.
  void forget_wall() { steady_wall_ = {}; }

  /// Does the next thing. False when nothing is left.
  bool step() {
    if (happenings_.empty()) {
      return false;
    }
    Happening next = happenings_.top();
    happenings_.pop();
    mono_ = next.when;
    next.act();
    return true;
  }

 private:
  struct Happening {
    MonoTime when;
    std::uint64_t order = 0;  // Ties are broken by who asked first.
    Act act;

    bool operator<(const Happening& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  [[nodiscard]] WallTime wall_at(MonoTime mono) const {
    return wall_from_unix_ms(1'750'000'000'000) +
           std::chrono::duration_cast<Millis>(mono.time_since_epoch()) + wall_offset_;
  }

  MonoTime mono_{};
  mutable SteadyWall steady_wall_;
  Millis wall_offset_{0};
  std::uint64_t next_order_ = 0;
  std::priority_queue<Happening> happenings_;
};

}  // namespace postrider::sim
