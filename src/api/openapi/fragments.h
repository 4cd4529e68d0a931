// The contract's pieces, one per resource, as they were written. Embedded by CMake.
#pragma once

#include <string_view>
#include <vector>

namespace postrider::api {

[[nodiscard]] const std::vector<std::string_view>& openapi_fragments();

}  // namespace postrider::api
