// The command line: parses argv and runs one subcommand.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/outbox_options.h"
#include "cli/commands/serve_options.h"
#include "cli/commands/store_options.h"
#include "cli/ports.h"

namespace postrider::cli {

/// Exit codes, the same for every subcommand.
constexpr int exit_ok = 0;
constexpr int exit_failed = 1;  // The command was valid but did not succeed.
constexpr int exit_usage = 2;   // Wrong command line, configuration or data directory.

/// Commands that main implements, because they need the store or a database. Each returns the exit
/// code.
struct CommandHandlers {
  std::function<int(const ServeOptions&)> serve;
  std::function<int(const MigrateOptions&)> migrate;
  std::function<int(const BackupOptions&)> backup;
  std::function<int(const CopyStoreOptions&)> copy;
  std::function<int(const OutboxInitOptions&)> init_outbox;
  /// Reports wrong arguments of `serve` in the format of its log. Returns false if that is text.
  std::function<bool(const std::vector<std::string>& arguments, std::string_view reason)>
      report_usage;
};

/// Returns the exit code. Never throws.
[[nodiscard]] int run_command_line(int argc, char** argv, const CommandHandlers& handlers,
                                   const Ports& ports);

}  // namespace postrider::cli
