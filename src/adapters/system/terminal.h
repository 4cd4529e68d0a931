// The Terminal port on POSIX.
#pragma once

#include <memory>

#include "ports/terminal.h"

namespace postrider {

[[nodiscard]] std::unique_ptr<Terminal> make_system_terminal();

}  // namespace postrider
