#include "core/policy/steady_wall.h"

#include <algorithm>

namespace postrider {

namespace {

constexpr Millis rounding_max{1};

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
    returned_ = last_->wall;
    return returned_;
  }
  if (now.mono <= last_->mono) {
    return returned_;  // No time has passed, whatever the wall clock says.
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
  // The wall clock is read in whole milliseconds, which the paced time between two readings cannot
  // follow exactly.
  const bool jumped = std::chrono::abs(wall - last_->wall) > rounding_max;
  returned_ = std::max(returned_, jumped ? last_->wall : wall);
  return returned_;
}

}  // namespace postrider
