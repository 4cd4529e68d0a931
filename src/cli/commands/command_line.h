// The command line: reads argv, checks it, runs one subcommand.
#pragma once

#include <functional>

#include "cli/commands/serve_options.h"
#include "cli/commands/store_options.h"

namespace postrider::cli {

/// Exit codes, the same for every subcommand.
constexpr int exit_ok = 0;
constexpr int exit_failed = 1;  // The operation was understood and did not succeed.
constexpr int exit_usage =
    2;  // The command line, the configuration or the data directory is wrong.

/// What the command line cannot do by itself, because it needs adapters: supplied by main.
struct CommandHandlers {
  // Each returns the exit code.
  std::function<int(const ServeOptions&)> serve;
  std::function<int(const MigrateOptions&)> migrate;
  std::function<int(const BackupOptions&)> backup;
};

/// Returns the exit code. Never throws.
[[nodiscard]] int run_command_line(int argc, char** argv, const CommandHandlers& handlers);

}  // namespace postrider::cli
