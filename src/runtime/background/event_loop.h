// One io thread's event loop, as background work sees it: run a function there, now or later.
// Tests drive the same work with a loop that follows a manual clock.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "core/base/time.h"

namespace postrider {

class EventLoop {
 public:
  /// A one-shot timer. Loop thread only. Destroying it cancels it.
  class Timer {
   public:
    virtual ~Timer() = default;
    /// Runs `fire` on the loop after `wait`, at once if that is negative. Replaces a wait that has
    /// not fired yet. `fire` may still run once after the timer is replaced or destroyed, if it was
    /// due already.
    virtual void start(Micros wait, std::function<void()> fire) = 0;
  };

  virtual ~EventLoop() = default;

  /// Runs `run` on the loop, never within this call. Any thread.
  virtual void post(std::function<void()> run) = 0;
  [[nodiscard]] virtual std::unique_ptr<Timer> make_timer() = 0;

 protected:
  EventLoop() = default;
  EventLoop(const EventLoop&) = default;
  EventLoop& operator=(const EventLoop&) = default;
};

/// `io` must outlive the loop and its timers.
[[nodiscard]] std::unique_ptr<EventLoop> make_event_loop(boost::asio::io_context& io);

}  // namespace postrider
