#include "adapters/asio_http/http_grammar.h"

#include <algorithm>
#include <array>

#include "core/base/trim.h"

namespace postrider::asio_http {
namespace {

constexpr std::array<bool, 256> token_characters = [] {
  std::array<bool, 256> allowed{};
  for (const char character : std::string_view{"!#$%&'*+-.^_`|~0123456789"
                                               "abcdefghijklmnopqrstuvwxyz"
                                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}) {
    allowed[static_cast<unsigned char>(character)] = true;
  }
  return allowed;
}();

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character + 32) : character;
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char character) {
    return token_characters[character];
  });
}

bool is_field_text(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char character) {
    return (character >= 0x20 && character != 0x7f) || character == '\t';
  });
}

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, {}, lower);
}

bool list_contains(std::string_view list, std::string_view lower_case_item) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equals_ignoring_case(trim(list.substr(0, comma)), lower_case_item)) {
      return true;
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
  if (text.empty() || text.size() > 18) {
    return std::nullopt;
  }
  std::uint64_t length = 0;
  for (const char character : text) {
    if (character < '0' || character > '9') {
      return std::nullopt;
    }
    length = length * 10 + static_cast<std::uint64_t>(character - '0');
  }
  return length;
}

std::optional<std::uint64_t> hex_value(char character) {
  if (character >= '0' && character <= '9') {
    return static_cast<std::uint64_t>(character - '0');
  }
  const char letter = lower(character);
  if (letter >= 'a' && letter <= 'f') {
    return static_cast<std::uint64_t>(letter - 'a' + 10);
  }
  return std::nullopt;
}

}  // namespace postrider::asio_http
