// The source of time. Only adapters/system reads a real clock.
#pragma once

#include "core/base/time.h"

namespace postrider {

/// Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Moment now() const = 0;

 protected:
  Clock() = default;
  Clock(const Clock&) = default;
  Clock& operator=(const Clock&) = default;
};

}  // namespace postrider
