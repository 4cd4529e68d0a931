// Wall time and monotonic time as distinct types that cannot be mixed, and RFC 3339 text. Nothing
// here reads a clock: times are arguments. Only adapters/system reads the clocks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postrider {

using Millis = std::chrono::milliseconds;
using Micros = std::chrono::microseconds;

// NOLINTBEGIN(readability-identifier-naming): std::chrono requires these names.
/// Calendar time. May jump. For times that are stored, displayed or signed.
struct WallClock {
  using duration = Millis;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WallClock, Millis>;
  static constexpr bool is_steady = false;
};
using WallTime = WallClock::time_point;

/// Monotonic time. Never jumps; has no meaning after a restart. Measures waits and rates.
struct MonoClock {
  using duration = Micros;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonoClock, Micros>;
  static constexpr bool is_steady = true;
};
// NOLINTEND(readability-identifier-naming)
using MonoTime = MonoClock::time_point;

/// All clocks, read at the same moment.
struct Moment {
  WallTime wall;
  MonoTime mono;
  /// The wall clock without its jumps (core/policy/steady_wall.h). Decides what is due. Part of the
  /// reading because the whole process must use the same value.
  WallTime steady = wall;

  bool operator==(const Moment&) const = default;
};

[[nodiscard]] constexpr WallTime wall_from_unix_ms(std::int64_t unix_ms) {
  return WallTime{Millis{unix_ms}};
}
[[nodiscard]] constexpr std::int64_t to_unix_ms(WallTime time) {
  return time.time_since_epoch().count();
}
[[nodiscard]] constexpr std::int64_t to_unix_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// The years 0000 to 9999, the range of RFC 3339. Small enough that sums and conversions to
/// microseconds do not overflow. `wall_time_max` also means "forever".
constexpr WallTime wall_time_min = wall_from_unix_ms(-62'167'219'200'000);
constexpr WallTime wall_time_max = wall_from_unix_ms(253'402'300'799'999);

/// `time + by`, clamped to wall_time_min … wall_time_max. `by` must not be negative.
[[nodiscard]] constexpr WallTime later(WallTime time, Millis by) {
  const WallTime start = std::clamp(time, wall_time_min, wall_time_max);
  return start + std::min(by, wall_time_max - start);
}

/// `2026-01-31T23:59:59.123Z`. Years outside 0000..9999 are clamped.
[[nodiscard]] std::string to_rfc3339(WallTime time);

/// Accepts any RFC 3339 time, with any offset. Digits beyond milliseconds are dropped.
/// A leap second (`:60`) counts as the following second.
[[nodiscard]] std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace postrider
