// The text of a request target: percent-decoding of path and query, and the UTF-8 check they share.
// Pure; any thread.
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

/// Only the origin form (`/path?query`) is accepted. Errc::invalid names the rule that is broken:
/// an incomplete escape, an encoded slash, a NUL or control character, a dot segment, a fragment,
/// or bytes that are not UTF-8 once decoded. Refused rather than repaired, because what a proxy
/// before us made of such a path is anyone's guess.
[[nodiscard]] Result<Target> parse_target(std::string_view raw);

[[nodiscard]] bool is_utf8(std::string_view bytes);

}  // namespace postrider::api
