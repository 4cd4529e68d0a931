// Ends of waits: a time span, and a signal from another thread. The kernel measures the time, so
// nothing here reads a clock.
#pragma once

#include "core/base/time.h"

namespace postrider::amqp {

/// A time span that begins with the construction or with `restart`.
class Deadline {
 public:
  explicit Deadline(Millis span);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void restart(Millis span);
  /// Rounded up. Zero: the time is over.
  [[nodiscard]] Millis left() const;
  [[nodiscard]] bool is_over() const { return left() == Millis{0}; }

 private:
  int timer_;
};

/// Wakes a thread that waits for a socket.
class WakeUp {
 public:
  WakeUp();
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  /// Any thread.
  void set();

  /// Waits until `socket` can be read, the time is over or `set` was called. Returns whether it was
  /// called since the last wait.
  [[nodiscard]] bool wait(int socket, Millis time);

 private:
  int event_;
};

}  // namespace postrider::amqp
