// Completion scripts for shells, generated from the command tree. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command_tree.h"

namespace postrider::cli {

[[nodiscard]] std::string bash_completion(const std::vector<CommandInfo>& tree);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandInfo>& tree);
[[nodiscard]] std::string fish_completion(const std::vector<CommandInfo>& tree);

}  // namespace postrider::cli
