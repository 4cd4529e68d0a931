// Virtual time: runs scheduled functions in an order that depends on the seed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "core/base/time.h"
#include "core/policy/steady_wall.h"
#include "ports/clock.h"

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
    scheduled_.push({when < mono_ ? mono_ : when, next_order_++, std::move(act)});
  }
  void after(Micros delay, Act act) { at(mono_ + delay, std::move(act)); }

  /// Sets the wall clock forwards or back.
  void jump(Millis by) { wall_offset_ += by; }

  /// Starts a new steady wall clock from the wall clock, as a new process does.
  void forget_wall() { steady_wall_ = {}; }

  /// Runs the next function. Returns false if none is left.
  bool step() {
    if (scheduled_.empty()) {
      return false;
    }
    Scheduled next = scheduled_.top();
    scheduled_.pop();
    mono_ = next.when;
    next.act();
    return true;
  }

 private:
  struct Scheduled {
    MonoTime when;
    std::uint64_t order = 0;  // Breaks ties: first scheduled, first run.
    Act act;

    bool operator<(const Scheduled& other) const {
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
  std::priority_queue<Scheduled> scheduled_;
};

class TimelineClock final : public Clock {
 public:
  /// `timeline` must outlive this object.
  explicit TimelineClock(const Timeline& timeline) : timeline_(timeline) {}

  [[nodiscard]] Moment now() const override { return timeline_.now(); }

 private:
  const Timeline& timeline_;
};

}  // namespace postrider::sim
