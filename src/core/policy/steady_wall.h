// Wall time without jumps (P9): follows the wall clock, but runs at most one sixteenth faster or
// slower than the monotonic clock. Retries keep their pace after a jump in either direction; the
// difference is smaller than the usual jitter. After a jump forward by a day, the retries of that
// day are not all due at once. A jump back does not stall retries.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>

#include "core/base/time.h"

namespace postrider {

/// The clocks when a process ended or was last known to run.
struct ClockRecord {
  WallTime wall;
  WallTime steady;

  bool operator==(const ClockRecord&) const = default;
};

/// A plain value. A process must have only one, inside its clock: two instances read at different
/// times disagree after a jump about what is due.
class SteadyWall {
 public:
  SteadyWall() = default;
  /// Continues the steady time of an earlier process, in which stored times were planned: a restart
  /// neither stalls retries nor makes them due at once. A wall clock that was set back in between
  /// is taken as it is, with the difference that there was before.
  explicit SteadyWall(const ClockRecord& earlier) : earlier_(earlier) {}

  /// The steady wall time at `now`. Never decreases. Exactly `now.wall` unless the wall clock has
  /// jumped, so that times of both kinds can be compared.
  [[nodiscard]] WallTime read(Moment now);

 private:
  /// Fine enough that even readings a microsecond apart approach the wall clock.
  using Sixteenths = std::chrono::duration<std::int64_t, std::ratio<1, 16'000'000>>;

  std::optional<ClockRecord> earlier_;
  std::optional<Moment> last_;  // `wall` is the paced time: see `read`.
  Sixteenths remainder_{0};     // Below a millisecond, not included in `last_`.
  WallTime returned_ = wall_time_min;
};

}  // namespace postrider
