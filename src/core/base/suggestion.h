// "Did you mean …?": finds the known word closest to a mistyped one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postrider {

/// The number of characters to insert, remove, replace or swap with their neighbour to turn `a`
/// into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The closest of `known`. Returns nullopt if none is similar to `word`.
[[nodiscard]] std::optional<std::string> closest(std::string_view word,
                                                 const std::vector<std::string>& known);

}  // namespace postrider
