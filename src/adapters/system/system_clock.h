// The clocks of the operating system. Any thread.
#pragma once

#include <memory>
#include <optional>

#include "core/policy/steady_wall.h"
#include "ports/clock.h"

namespace postrider {

/// `earlier`: the clocks of the process whose stored times this one uses, if they are known.
[[nodiscard]] std::unique_ptr<Clock> make_system_clock(
    const std::optional<ClockRecord>& earlier = std::nullopt);

}  // namespace postrider
