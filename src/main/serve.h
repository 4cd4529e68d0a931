// `postrider serve`: loads the configuration and runs the server until a signal.
#pragma once

#include <span>

#include "api/ui/dashboard_file.h"
#include "cli/commands/serve_options.h"

namespace postrider {

/// Returns the exit code: 0 after a drain, 2 if the server cannot start.
[[nodiscard]] int serve(const cli::ServeOptions& options,
                        std::span<const api::DashboardFile> dashboard);

}  // namespace postrider
