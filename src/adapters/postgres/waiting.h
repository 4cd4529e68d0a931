// Waiting for a socket, an interruption or the end of a time span, without reading a clock.
#pragma once

#include <cstdint>

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
  Interruption();

  void set();
  void clear();
  [[nodiscard]] bool is_set() const;
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  Descriptor event_;  // An eventfd.
};

/// The end of a time span that starts with the construction.
class Deadline {
 public:
  explicit Deadline(Millis span);

  [[nodiscard]] int descriptor() const { return timer_.get(); }
  /// Makes it end after `span` from now, unless it ends before.
  void shorten(Millis span);
  /// Zero if it is over.
  [[nodiscard]] Millis left() const;

 private:
  Descriptor timer_;  // A timerfd.
};

enum class Direction : std::uint8_t { read, write };
enum class Woken : std::uint8_t { ready, interrupted, expired };

/// Waits until `socket` is ready, or only for the other two if it is negative. With a null
/// `interruption` nothing interrupts. Readiness wins over an interruption and that over the end.
[[nodiscard]] Woken wait(int socket, Direction direction, const Interruption* interruption,
                         const Deadline& deadline);

}  // namespace postrider::postgres
