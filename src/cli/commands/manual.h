// Generates the manual page from the command tree. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command_tree.h"

namespace postrider::cli {

/// Returns roff with the `man` macros. docs/man/postrider.1 is this text.
[[nodiscard]] std::string manual_page(const std::vector<CommandInfo>& tree);

}  // namespace postrider::cli
