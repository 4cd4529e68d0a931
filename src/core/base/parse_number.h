// Reads a text that is a number and nothing else.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace postrider {

/// Returns nullopt if the text is empty, has anything before or after the number, even a space or
/// `+`, or if the number does not fit the type.
template <std::integral Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number, base);
  return error == std::errc{} && stop == end ? std::optional{number} : std::nullopt;
}

/// The same for a number with a fraction or an exponent. Accepts `inf` and `nan`.
template <std::floating_point Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc{} && stop == end ? std::optional{number} : std::nullopt;
}

}  // namespace postrider
