// Points in time and durations as people type them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider::cli {

/// `2026-01-31T10:00:00Z`, or how long ago: `90s`, `15m`, `2h`, `7d`, `2w`. Pure.
[[nodiscard]] std::optional<WallTime> parse_time_argument(std::string_view text, WallTime now);

/// `90s`, `15m`, `2h`, `7d`, `2w`. Pure.
[[nodiscard]] std::optional<std::chrono::seconds> parse_duration(std::string_view text);

/// As RFC 3339, by this machine's clock. Fails with invalid, naming the flag.
[[nodiscard]] Result<std::string> time_argument(std::string_view flag, std::string_view text);

/// The same for a time to come: a duration is one from now.
[[nodiscard]] Result<std::string> later_argument(std::string_view flag, std::string_view text);
/// Fails with invalid, naming the flag.
[[nodiscard]] Result<std::chrono::seconds> duration_argument(std::string_view flag,
                                                             std::string_view text);

}  // namespace postrider::cli
