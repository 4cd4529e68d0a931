// Writes the log to standard error, buffered: a line per attempt does not cost a system call.
#pragma once

#include <string_view>

#include "config/config.h"

namespace postrider {

/// Lines at level error are written immediately, and so are warnings unless many come at once. All
/// others are written within a second. From now on failed assertions and uncaught exceptions are
/// reported in the configured format as well.
void set_up_logging(const config::Config& config);

/// Applies a new level and format. Any thread.
void change_logging(const config::Config& config);

/// Writes all buffered lines now.
void flush_log();

/// Writes all buffered lines. Do not log after this.
void end_logging();

/// Says why the server does not start: a sentence for a person, or a line of JSON. Needs no
/// set_up_logging().
void report_start_failure(config::LogFormat format, std::string_view reason);

}  // namespace postrider
