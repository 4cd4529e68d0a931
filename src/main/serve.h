// `postrider serve`: loads the configuration and runs the server until a signal.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/ui/dashboard_file.h"
#include "cli/commands/serve_options.h"

namespace postrider {

/// Returns the exit code: 0 after a drain, 2 if the server cannot start.
[[nodiscard]] int serve(const cli::ServeOptions& options,
                        std::span<const api::DashboardFile> dashboard);

/// Reports wrong arguments of `postrider serve` as JSON, and returns true, if they, the environment
/// or the configuration file ask for a log in JSON.
[[nodiscard]] bool report_usage(const std::vector<std::string>& arguments, std::string_view reason);

}  // namespace postrider
