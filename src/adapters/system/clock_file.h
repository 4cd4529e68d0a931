// A file that holds how far the steady time is from the wall clock, for the next start. There is
// none while they agree, which is nearly always. Losing it delays retries once.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/policy/steady_wall.h"

namespace postrider {

/// Returns nullopt if there is no such file or its content is not valid.
[[nodiscard]] std::optional<ClockRecord> read_clock_file(const std::string& path);

/// Replaces the file, or removes it if the two times differ by less than a second. Fails with:
/// unavailable.
[[nodiscard]] Result<void> write_clock_file(const std::string& path, const ClockRecord& record);

}  // namespace postrider
