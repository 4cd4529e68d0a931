#include "core/policy/steady_wall.h"

#include <algorithm>

namespace postrider {

WallTime SteadyWall::read(Moment now) {
  const WallTime wall = std::clamp(now.wall, wall_time_min, wall_time_max);
  if (!last_) {
    last_ = Moment{wall, now.mono};
    return wall;
  }
  if (now.mono <= last_->mono) {
    return last_->wall;  // No time has passed, whatever the wall clock says.
  }

  // Computes in microseconds: with milliseconds, frequent readings would round to no progress.
  // elapsed_max only prevents overflow; no real reading is that far from the last one.
  constexpr Micros elapsed_max = std::chrono::hours{24 * 365 * 100};
  const Micros elapsed = std::min(now.mono - last_->mono, elapsed_max);
  const Micros before = Micros{last_->wall.time_since_epoch()} + remainder_;
  const Micros half = (elapsed + Micros{1}) / 2;  // Rounded up, so that steps of 1 µs advance it.
  const Micros steady =
      std::clamp(Micros{wall.time_since_epoch()}, before + half, before + elapsed * 2);

  const Millis whole = std::chrono::floor<Millis>(steady);
  remainder_ = steady - whole;
  last_ = Moment{WallTime{whole}, now.mono};
  return last_->wall;
}

}  // namespace postrider
