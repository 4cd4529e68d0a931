// Descriptors that end a wait: a timer, and a signal from another thread. The kernel measures the
// time, so nothing here reads a clock.
#pragma once

#include "core/base/time.h"

namespace postrider::redis {

/// Owns a file descriptor. -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  [[nodiscard]] int get() const { return number_; }

 private:
  int number_ = -1;
};

/// Becomes readable when its time has passed. One thread.
class Timer {
 public:
  Timer();

  /// Starts again. A time that is not positive has passed at once.
  void start(Millis wait);
  [[nodiscard]] bool has_passed() const;
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

/// Set by any thread, taken by one.
class Signal {
 public:
  Signal();

  void set();
  /// Returns whether it was set, and clears it.
  [[nodiscard]] bool take();
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

}  // namespace postrider::redis
