// An event loop that a test runs, with timers that follow its manual clock.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/background/event_loop.h"

#include "tests/support/manual_clock.h"

namespace postrider::test {

/// Functions run on the thread of the test, inside `run_until` and `fire_due`. `post` is for any
/// thread, everything else for the thread of the test.
class ManualLoop final : public EventLoop {
 public:
  explicit ManualLoop(const ManualClock& clock) : clock_(clock) {}

  void post(std::function<void()> run) override {
    {
      const std::lock_guard lock{mutex_};
      posted_.push_back(std::move(run));
    }
    arrived_.notify_all();
  }

  [[nodiscard]] std::unique_ptr<Timer> make_timer() override {
    return std::make_unique<ManualTimer>(*this);
  }

  /// Runs posted functions until `condition` holds. False if that takes more than 20 seconds.
  template <class Condition>
  [[nodiscard]] bool run_until(Condition condition) {
    while (!condition()) {
      std::unique_lock lock{mutex_};
      if (!arrived_.wait_for(lock, std::chrono::seconds{20}, [this] { return !posted_.empty(); })) {
        return false;
      }
      const std::function<void()> run = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      run();
      ++run_count_;
    }
    return true;
  }

  /// When the next timer fires.
  [[nodiscard]] std::optional<MonoTime> next_due() const {
    return timers_.empty() ? std::nullopt : std::optional{timers_.begin()->first};
  }
  /// Fires the timers that are due.
  void fire_due() {
    while (!timers_.empty() && timers_.begin()->first <= clock_.now().mono) {
      const Waiting waiting = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      waiting.fire();
    }
  }

  /// How many posted functions have run.
  [[nodiscard]] std::size_t run_count() const { return run_count_; }

 private:
  class ManualTimer final : public Timer {
   public:
    explicit ManualTimer(ManualLoop& loop) : loop_(loop) {}
    ~ManualTimer() override { loop_.cancel(*this); }
    ManualTimer(const ManualTimer&) = delete;
    ManualTimer& operator=(const ManualTimer&) = delete;

    void start(Micros wait, std::function<void()> fire) override {
      loop_.cancel(*this);
      loop_.timers_.emplace(loop_.clock_.now().mono + std::max(wait, Micros{0}),
                            Waiting{this, std::move(fire)});
    }

   private:
    ManualLoop& loop_;
  };
  struct Waiting {
    const ManualTimer* timer = nullptr;
    std::function<void()> fire;
  };

  void cancel(const ManualTimer& timer) {
    std::erase_if(timers_, [&timer](const auto& each) { return each.second.timer == &timer; });
  }

  const ManualClock& clock_;
  std::multimap<MonoTime, Waiting> timers_;
  std::size_t run_count_ = 0;
  std::mutex mutex_;  // Guards the two below.
  std::condition_variable arrived_;
  std::deque<std::function<void()>> posted_;
};

}  // namespace postrider::test
