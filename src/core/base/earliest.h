// Of two times that may be missing, the earlier one.
#pragma once

#include <algorithm>
#include <optional>

namespace postrider {

/// The earlier of two times, ignoring nullopt.
template <class Time>
[[nodiscard]] constexpr std::optional<Time> earliest(std::optional<Time> a, std::optional<Time> b) {
  return a && b ? std::min(a, b) : (a ? a : b);
}

}  // namespace postrider
