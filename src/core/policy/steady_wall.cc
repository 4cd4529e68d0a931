#include "core/policy/steady_wall.h"

#include <algorithm>

namespace postrider {

namespace {

WallTime resumed(const ClockRecord& earlier, WallTime wall) {
  const WallTime before = std::clamp(earlier.steady, wall_time_min, wall_time_max);
  if (wall >= earlier.wall) {
    return std::max(wall, before);
  }
  const WallTime earlier_wall = std::clamp(earlier.wall, wall_time_min, wall_time_max);
  return before > earlier_wall ? later(wall, before - earlier_wall) : wall;
}

}  // namespace

WallTime SteadyWall::read(Moment now) {
  const WallTime wall = std::clamp(now.wall, wall_time_min, wall_time_max);
  if (!last_) {
    last_ = Moment{earlier_ ? resumed(*earlier_, wall) : wall, now.mono};
    return last_->wall;
  }
  if (now.mono <= last_->mono) {
    return last_->wall;  // No time has passed, whatever the wall clock says.
  }

  // elapsed_max only prevents overflow; no real reading is that far from the last one.
  constexpr Micros elapsed_max = std::chrono::hours{24 * 365 * 100};
  const Micros elapsed = std::min(now.mono - last_->mono, elapsed_max);
  const Sixteenths before = Sixteenths{last_->wall.time_since_epoch()} + remainder_;
  const Sixteenths slew{elapsed.count()};
  const Sixteenths steady = std::clamp(Sixteenths{wall.time_since_epoch()}, before + elapsed - slew,
                                       before + elapsed + slew);

  const Millis whole = std::chrono::floor<Millis>(steady);
  remainder_ = steady - whole;
  last_ = Moment{WallTime{whole}, now.mono};
  return last_->wall;
}

}  // namespace postrider
