// The process's surroundings: environment variables and terminals. Read at start-up, from the main
// thread, before others exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postrider {

/// nullopt when the variable is not set; an empty one is an empty string.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

/// Every variable whose name begins with `prefix`, by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_variables(
    std::string_view prefix);

/// Whether a person is likely to see standard output in colour: a terminal, and NO_COLOR is not
/// set.
[[nodiscard]] bool stdout_has_colour();

}  // namespace postrider
