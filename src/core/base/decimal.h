// Compares JSON numbers by value, as decimals: `300`, `300.0` and `3e2` are equal, 0.1 is exactly
// 0.1, and 9007199254740993 is not 9007199254740992. The number of digits is not limited. Exponents
// are clamped to ±10^12.
#pragma once

#include <compare>
#include <string_view>

namespace postrider {

/// Both arguments must be valid JSON numbers.
[[nodiscard]] std::strong_ordering compare_json_numbers(std::string_view a, std::string_view b);

}  // namespace postrider
