// Writes the log to standard error, buffered: a line per attempt does not cost a system call.
#pragma once

#include <string>

#include "config/config.h"

namespace postrider {

/// Lines at level warning and above are written immediately, others within a second.
void set_up_logging(const config::Config& config);

/// Applies a new level and format. Any thread.
void change_logging(const config::Config& config);

/// Writes all buffered lines. Do not log after this.
void end_logging();

}  // namespace postrider
