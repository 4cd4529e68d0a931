// Two clocks that do not mix, and their text form. Nothing here reads a clock: times are arguments,
// and only adapters/system knows where they come from.
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

// NOLINTBEGIN(readability-identifier-naming): std::chrono asks for these names.
/// What a calendar shows. May jump. Stored, shown to people, signed.
struct WallClock {
  using duration = Millis;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WallClock, Millis>;
  static constexpr bool is_steady = false;
};
using WallTime = WallClock::time_point;

/// What a stopwatch shows. Never jumps, means nothing after a restart. Measures waits and rates.
struct MonoClock {
  using duration = Micros;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonoClock, Micros>;
  static constexpr bool is_steady = true;
};
// NOLINTEND(readability-identifier-naming)
using MonoTime = MonoClock::time_point;

/// The clocks, read together.
struct Moment {
  WallTime wall;
  MonoTime mono;
  /// The wall clock without its jumps (core/policy/steady_wall.h): what is due is decided by it.
  /// All of a process must see the same one, so it comes with the reading.
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

/// The years 0000 to 9999: what the text form can say. Far enough from the end of the numbers that
/// sums and conversions to microseconds do not overflow. `wall_time_max` also stands for "for
/// good".
constexpr WallTime wall_time_min = wall_from_unix_ms(-62'167'219'200'000);
constexpr WallTime wall_time_max = wall_from_unix_ms(253'402'300'799'999);

/// `time + by`, kept within wall_time_min and wall_time_max. `by` is not negative.
[[nodiscard]] constexpr WallTime later(WallTime time, Millis by) {
  const WallTime start = std::clamp(time, wall_time_min, wall_time_max);
  return start + std::min(by, wall_time_max - start);
}

/// `2026-01-31T23:59:59.123Z`. Years outside 0000..9999 are clamped.
[[nodiscard]] std::string to_rfc3339(WallTime time);

/// Accepts what RFC 3339 allows, with any offset; digits beyond milliseconds are dropped.
/// A leap second (`:60`) counts as the following second.
[[nodiscard]] std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace postrider
