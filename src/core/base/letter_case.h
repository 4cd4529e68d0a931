// Case-insensitive comparison of UTF-8 text. Folds the Latin, Greek and Cyrillic letters that take
// one or two bytes, where upper and lower case have the same length, so that a prefix can be cut
// off by counting bytes. Every other character equals only itself.
#pragma once

#include <string>
#include <string_view>

namespace postrider {

/// Both arguments are UTF-8.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);

/// The text in lower case. It has the same length. Two texts are equal ignoring case if their
/// folded texts are equal; the same holds for prefixes and suffixes.
[[nodiscard]] std::string fold_case(std::string_view text);

}  // namespace postrider
