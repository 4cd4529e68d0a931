// The Machine port on POSIX.
#pragma once

#include <memory>

#include "ports/machine.h"

namespace postrider {

[[nodiscard]] std::unique_ptr<Machine> make_system_machine();

}  // namespace postrider
