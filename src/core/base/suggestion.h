// "Did you mean": the known word closest to a mistyped one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postrider {

/// How many characters must be inserted, removed, replaced or swapped with their neighbour.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The closest of `known`, unless even that is too far from `word` to be what was meant.
[[nodiscard]] std::optional<std::string> closest(std::string_view word,
                                                 const std::vector<std::string>& known);

}  // namespace postrider
