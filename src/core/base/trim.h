// Removes white space at both ends of a text.
#pragma once

#include <string_view>

namespace postrider {

/// The optional white space of HTTP fields.
constexpr std::string_view spaces_and_tabs = " \t";
/// The white space of JSON, and of what people paste.
constexpr std::string_view white_space = " \t\r\n";

/// Removes the characters of `removed` at both ends.
[[nodiscard]] constexpr std::string_view trim(std::string_view text,
                                              std::string_view removed = spaces_and_tabs) {
  const std::size_t first = text.find_first_not_of(removed);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(removed) - first + 1);
}

}  // namespace postrider
