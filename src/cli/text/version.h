// The version of the program.
#pragma once

#include <string_view>

namespace postrider::cli {

/// `0.1.0`, from the build.
[[nodiscard]] std::string_view version();

}  // namespace postrider::cli
