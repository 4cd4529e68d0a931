// Environment variables and the name of the machine. Main thread only, before other threads start.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postrider {

/// Returns nullopt if the variable is not set.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

/// All variables whose name starts with `prefix`, sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_variables(
    std::string_view prefix);

/// `localhost` if the machine has no name.
[[nodiscard]] std::string host_name();

}  // namespace postrider
