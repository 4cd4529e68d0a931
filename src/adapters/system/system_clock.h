// The real clocks.
#pragma once

#include <memory>

#include "ports/clock.h"

namespace postrider {

[[nodiscard]] std::unique_ptr<Clock> make_system_clock();

}  // namespace postrider
