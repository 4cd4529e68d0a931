// Every command and flag as plain data: what shell completions and the manual are made of.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/syntax.h"

namespace postrider::cli {

struct FlagInfo {
  std::string name;   // `--limit`, or `ID` for one that is told by its place.
  std::string value;  // `N`; empty: the flag takes none.
  std::string description;
};

struct CommandInfo {
  std::vector<std::string> path;  // `webhooks`, `list`; empty for the program itself.
  std::string description;
  std::string footer;
  std::vector<FlagInfo> flags;
  std::vector<FlagInfo> positionals;
  std::vector<std::string> children;  // Their names.
};

/// The program first, then each command followed by its own.
[[nodiscard]] std::vector<CommandInfo> command_tree(const Syntax& root);

/// `postrider webhooks list`, or with another separator.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const std::string& with);

}  // namespace postrider::cli
