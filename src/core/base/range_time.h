// The ends of a time range as users write them: RFC 3339 times or dates.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace postrider {

/// `2026-01-31`: the start of that day in UTC.
[[nodiscard]] std::optional<WallTime> parse_date(std::string_view text);

/// The first moment of a range. A date means the start of that day.
[[nodiscard]] std::optional<WallTime> parse_range_start(std::string_view text);

/// The exclusive end of a range. The range includes the whole day of a date.
[[nodiscard]] std::optional<WallTime> parse_range_end(std::string_view text);

}  // namespace postrider
