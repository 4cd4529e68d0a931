// The source of time. Only adapters/system reads a real clock.
#pragma once

#include "core/base/time.h"

namespace postrider {

/// Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Moment now() const = 0;
  /// Monotonic time that goes on while the machine is suspended, unlike Moment::mono. For leases.
  /// Not for timeouts: a suspension must not end all requests that are in flight.
  [[nodiscard]] virtual MonoTime boot_time() const { return now().mono; }

 protected:
  Clock() = default;
  Clock(const Clock&) = default;
  Clock& operator=(const Clock&) = default;
};

}  // namespace postrider
