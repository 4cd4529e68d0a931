// From argv to a checked command. Pure but for the environment, which is an argument.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands/listen_options.h"
#include "cli/commands/send_options.h"
#include "cli/commands/serve_options.h"
#include "cli/commands/store_options.h"

namespace postrider::cli {

struct VersionOptions {
  bool json = false;
};

/// `--help`: print this and be done.
struct HelpText {
  std::string text;
};

/// The command line is wrong: one sentence, and a hint what to do instead.
struct UsageError {
  std::string message;
  std::string hint;
};

/// A command that has been read and checked; running it returns the exit code.
struct Task {
  std::function<int()> run;
};

using Command = std::variant<ServeOptions, ListenOptions, SendOptions, MigrateOptions,
                             BackupOptions, VersionOptions, Task, HelpText, UsageError>;

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// `arguments` without the program's name.
[[nodiscard]] Command parse_arguments(std::vector<std::string> arguments,
                                      const Environment& environment);

}  // namespace postrider::cli
