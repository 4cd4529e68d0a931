// The clocks of the operating system. Any thread.
#pragma once

#include <memory>

#include "ports/clock.h"

namespace postrider {

[[nodiscard]] std::unique_ptr<Clock> make_system_clock();

}  // namespace postrider
