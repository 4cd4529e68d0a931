// Wall time without jumps (P9): follows the wall clock, but runs at most twice and at least half as
// fast as the monotonic clock. A day's jump forward does not make a day of retries due at once; a
// jump back does not stall them.
#pragma once

#include <optional>

#include "core/base/time.h"

namespace postrider {

/// A plain value. A process has one, inside its clock: two that are read at different times would
/// disagree after a jump, and what one says is due the other would hold back.
class SteadyWall {
 public:
  /// The steady wall time of `now`. Never decreases while `now.mono` does not.
  [[nodiscard]] WallTime read(Moment now);

 private:
  std::optional<Moment> last_;  // The wall here is the steady one.
  Micros remainder_{0};         // What the last reading rounded off.
};

}  // namespace postrider
