// All commands and flags as plain data, for shell completions and the manual page.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/syntax.h"

namespace postrider::cli {

struct FlagInfo {
  std::string name;   // `--limit`, or `ID` for a positional argument.
  std::string value;  // `N`; empty: the flag takes no value.
  std::string description;
};

struct CommandInfo {
  std::vector<std::string> path;  // `webhooks`, `list`; empty for the program itself.
  std::string description;
  std::string footer;
  std::vector<FlagInfo> flags;
  std::vector<FlagInfo> positionals;
  std::vector<std::string> children;  // Names of subcommands.
};

/// Returns the program first, then each command followed by its subcommands.
[[nodiscard]] std::vector<CommandInfo> command_tree(const Syntax& root);

/// Joins words with a separator.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const std::string& with);

}  // namespace postrider::cli
