// Where log lines go: standard error, buffered, so that a line per attempt does not cost a system
// call.
#pragma once

#include <string>

#include "config/config.h"

namespace postrider {

/// The level is one of spdlog's names. Lines at warning and above are written at once, others
/// within a second.
void set_up_logging(const config::Config& config);

/// From now on; any thread.
void change_logging(const config::Config& config);

/// Writes what is still buffered. Nothing may be logged after this.
void end_logging();

}  // namespace postrider
