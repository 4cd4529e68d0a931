// Wall time without jumps (P9): follows the wall clock, but runs at most twice and at least half as
// fast as the monotonic clock. After a jump forward by a day, the retries of that day are not all
// due at once. A jump back does not stall retries.
#pragma once

#include <optional>

#include "core/base/time.h"

namespace postrider {

/// A plain value. A process must have only one, inside its clock: two instances read at different
/// times disagree after a jump about what is due.
class SteadyWall {
 public:
  /// The steady wall time at `now`. Never decreases.
  [[nodiscard]] WallTime read(Moment now);

 private:
  std::optional<Moment> last_;  // `wall` is the steady wall time.
  Micros remainder_{0};         // Below a millisecond, not included in `last_`.
};

}  // namespace postrider
