// `postrider serve`: wires adapters, runtime and API together and runs them until a signal. The
// only place that names adapters.
#pragma once

#include "cli/commands/serve_options.h"

namespace postrider {

/// Returns the exit code: 0 after a drain, 1 when the server failed, 2 when it could not start as
/// asked.
[[nodiscard]] int serve(const cli::ServeOptions& options);

}  // namespace postrider
