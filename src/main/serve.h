// `postrider serve`: loads the configuration and runs the server until a signal.
#pragma once

#include "cli/commands/serve_options.h"

namespace postrider {

/// Returns the exit code: 0 after a drain, 2 if the server cannot start.
[[nodiscard]] int serve(const cli::ServeOptions& options);

}  // namespace postrider
