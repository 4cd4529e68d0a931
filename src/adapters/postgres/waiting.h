// Waiting for a socket, an interruption or the end of a time span, without reading a clock.
#pragma once

#include <cstdint>
#include <ctime>

#include "core/base/time.h"

namespace postrider::postgres {

/// Closes its file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// Stays set until `clear`. All functions can be called by any thread.
class Interruption {
 public:
  /// Throws std::system_error if the process has no descriptor left.
  Interruption();

  void set();
  void clear();
  [[nodiscard]] bool is_set() const;
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  Descriptor event_;  // An eventfd.
};

/// The end of a time span that starts with the construction. Needs no descriptor: a statement can
/// be waited for when the process has none left.
class Deadline {
 public:
  /// Over at once if the system has no timer.
  explicit Deadline(Millis span);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Makes it end after `span` from now, unless it ends before.
  void shorten(Millis span);
  /// Zero if it is over.
  [[nodiscard]] Millis left() const;

 private:
  timer_t timer_{};  // Signals nothing; it is only asked for the rest.
  bool has_timer_ = false;
};

enum class Direction : std::uint8_t { read, write, either };
enum class Woken : std::uint8_t { ready, interrupted, expired };

/// Waits until `socket` is ready, or only for the other two if it is negative. With a null
/// `interruption` nothing interrupts. Readiness wins over an interruption and that over the end.
[[nodiscard]] Woken wait(int socket, Direction direction, const Interruption* interruption,
                         const Deadline& deadline);

}  // namespace postrider::postgres
