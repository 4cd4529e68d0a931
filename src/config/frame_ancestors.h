// Who may show the dashboard in a frame, as configured.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace postrider::config {

constexpr std::size_t frame_ancestors_max = 32;

/// Accepts `none` alone, or `self` and origins, `https://HOST[:PORT]`. HOST may begin with `*.`.
/// `http://` is accepted for localhost and 127.0.0.0/8. The words may be in single quotes, as in a
/// Content-Security-Policy; the result is without them. An empty list means `none`. Returns nullopt
/// if an entry is invalid, so that no entry can add to the header that they are written to.
[[nodiscard]] std::optional<std::vector<std::string>> read_frame_ancestors(
    const std::vector<std::string>& given);

}  // namespace postrider::config
