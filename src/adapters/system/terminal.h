// What the process's output is connected to.
#pragma once

#include <cstddef>
#include <optional>

namespace postrider {

/// The width of the terminal that standard output is; nullopt when it is a file or a pipe.
[[nodiscard]] std::optional<std::size_t> stdout_columns();

[[nodiscard]] bool stderr_is_terminal();

}  // namespace postrider
