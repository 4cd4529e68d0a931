// Parses times and durations on the command line. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider::cli {

/// Parses `2026-01-31T10:00:00Z`, or a duration before `now`: `90s`, `15m`, `2h`, `7d`, `2w`.
[[nodiscard]] std::optional<WallTime> parse_time_argument(std::string_view text, WallTime now);

/// Parses `90s`, `15m`, `2h`, `7d`, `2w`.
[[nodiscard]] std::optional<std::chrono::seconds> parse_duration(std::string_view text);

/// Returns RFC 3339, or the date if it is one. A duration is before `now`. Fails with invalid; the
/// message names the flag.
[[nodiscard]] Result<std::string> time_argument(std::string_view flag, std::string_view text,
                                                WallTime now);

/// The same for a future time: a duration is after `now`.
[[nodiscard]] Result<std::string> later_argument(std::string_view flag, std::string_view text,
                                                 WallTime now);

/// Fails with invalid; the message names the flag.
[[nodiscard]] Result<std::chrono::seconds> duration_argument(std::string_view flag,
                                                             std::string_view text);

}  // namespace postrider::cli
