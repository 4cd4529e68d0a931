// The manual page, made from the commands themselves. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command_tree.h"

namespace postrider::cli {

/// In the `man` macros of roff. docs/man/postrider.1 is this text.
[[nodiscard]] std::string manual_page(const std::vector<CommandInfo>& tree);

}  // namespace postrider::cli
