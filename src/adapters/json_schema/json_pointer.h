// JSON pointers (RFC 6901) in the fragment of a URI, as `$ref` uses them.
#pragma once

#include <string_view>

#include "adapters/json_schema/json_tree.h"

namespace postrider::json_schema {

/// `pointer` is the fragment without its `#`, for example `/definitions/a%20b`. Returns null if it
/// points to nothing.
[[nodiscard]] const JsonNode* follow_pointer(const JsonNode& root, std::string_view pointer);

}  // namespace postrider::json_schema
