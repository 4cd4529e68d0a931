#include "core/base/growth.h"

#include <algorithm>
#include <cmath>

namespace postrider {

Millis to_millis(double milliseconds) {
  constexpr auto most = static_cast<double>(to_unix_ms(wall_time_max));
  if (!(milliseconds > 0.0)) {
    return Millis{0};  // Also for NaN.
  }
  return Millis{std::llround(std::min(milliseconds, most))};
}

Millis grown(const Growth& growth, std::uint32_t steps) {
  const Millis base = std::clamp(growth.base, Millis{0}, std::max(growth.max, Millis{0}));
  const double factor = growth.factor > 1.0 ? growth.factor : 1.0;
  if (base.count() == 0 || steps == 0) {
    return base;  // Avoids 0 × infinity, which is NaN.
  }
  // A power that is too large becomes infinite, and `to_millis` clamps infinity.
  const double product = static_cast<double>(base.count()) * std::pow(factor, steps);
  return std::min(to_millis(product), growth.max);
}

}  // namespace postrider
