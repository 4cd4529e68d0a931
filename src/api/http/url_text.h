// Parses a request target: percent-decoding of path and query, and a UTF-8 check. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace postrider::api {

struct Target {
  std::string path;                                        // Decoded.
  std::vector<std::pair<std::string, std::string>> query;  // Decoded, in order.
};

/// Accepts only the origin form (`/path?query`). Fails with invalid, and a message that names the
/// rule, for: an incomplete escape, an encoded slash, a NUL or control character, a dot segment, a
/// fragment, or decoded bytes that are not UTF-8. Such targets are not normalized, because a proxy
/// in front of the server may have interpreted them differently.
[[nodiscard]] Result<Target> parse_target(std::string_view raw);

[[nodiscard]] bool is_utf8(std::string_view bytes);

}  // namespace postrider::api
