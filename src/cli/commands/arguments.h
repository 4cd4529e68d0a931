// Parses and checks the command line. Pure: the environment is an argument.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands/listen_options.h"
#include "cli/commands/outbox_options.h"
#include "cli/commands/send_options.h"
#include "cli/commands/serve_options.h"
#include "cli/commands/store_options.h"
#include "cli/ports.h"

namespace postrider::cli {

struct VersionOptions {
  bool json = false;
};

/// Text to print, for example for `--help`.
struct HelpText {
  std::string text;
};

/// An error in the command line, and a hint how to correct it.
struct UsageError {
  std::string message;
  std::string hint;
  bool of_server = false;  // The command is `serve`.
};

/// A checked command. `run` returns the exit code.
struct Task {
  std::function<int(const Ports& ports)> run;
};

using Command =
    std::variant<ServeOptions, ListenOptions, SendOptions, MigrateOptions, BackupOptions,
                 CopyStoreOptions, OutboxInitOptions, VersionOptions, Task, HelpText, UsageError>;

/// `arguments` does not contain the name of the program.
[[nodiscard]] Command parse_arguments(std::vector<std::string> arguments,
                                      const Environment& environment);

}  // namespace postrider::cli
