// Completion scripts for shells, made from the commands themselves so that they cannot be out of
// date. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command_tree.h"

namespace postrider::cli {

[[nodiscard]] std::string bash_completion(const std::vector<CommandInfo>& tree);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandInfo>& tree);
[[nodiscard]] std::string fish_completion(const std::vector<CommandInfo>& tree);

}  // namespace postrider::cli
