// Text compared without regard to case. Knows the letters of the Latin, Greek and Cyrillic
// alphabets that UTF-8 writes in one or two bytes; a letter and its counterpart have the same
// length, so that a prefix can be cut off by counting bytes. All other characters equal only
// themselves.
#pragma once

#include <string_view>

namespace postrider {

/// Both are UTF-8.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);

}  // namespace postrider
