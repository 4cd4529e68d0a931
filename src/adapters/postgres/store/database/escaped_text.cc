#include "adapters/postgres/store/database/escaped_text.h"

#include <cstdint>
#include <cstring>

namespace postrider::postgres {
namespace {

constexpr char mark = '\x01';
constexpr std::string_view digits = "0123456789abcdef";

constexpr std::uint64_t in_every_byte(std::uint8_t value) { return 0x0101010101010101ull * value; }

/// Returns whether all eight bytes at `at` are between 2 and 127.
bool are_plain(const char* at) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, at, sizeof eight);
  // The subtraction sets the high bit of a byte below 2. A borrow from a lower byte can make the
  // result false for plain bytes, but never true for others.
  return ((eight | (eight - in_every_byte(2))) & in_every_byte(0x80)) == 0;
}

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (byte_at(text, at) & 0xc0) == 0x80;
}

/// The length of the well-formed UTF-8 sequence of several bytes at `at`, or 0 (table 3-7 of the
/// Unicode standard).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte_at(text, at);
  if (first < 0xc2 || first > 0xf4 || !continues(text, at + 1)) {
    return 0;
  }
  if (first < 0xe0) {
    return 2;
  }
  const std::uint8_t second = byte_at(text, at + 1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ||
      !continues(text, at + 2)) {
    return 0;
  }
  if (first < 0xf0) {
    return 3;
  }
  return continues(text, at + 3) ? 4 : 0;
}

/// The end of the bytes from `at` that are stored as they are.
std::size_t end_of_plain(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (at + 8 <= text.size() && are_plain(text.data() + at)) {
      at += 8;
      continue;
    }
    const std::uint8_t byte = byte_at(text, at);
    const std::size_t length = byte < 0x80 ? (byte >= 2 ? 1 : 0) : sequence_length(text, at);
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return at;
}

/// -1 if it is not a digit that `append_escaped` writes.
int value_of(char digit) {
  const std::size_t at = digits.find(digit);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

void append_escaped(std::string_view text, std::string& out) {
  std::size_t at = 0;
  while (true) {
    const std::size_t end = end_of_plain(text, at);
    out.append(text.substr(at, end - at));
    if (end == text.size()) {
      return;
    }
    const std::uint8_t byte = byte_at(text, end);
    out.push_back(mark);
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 0x0f]);
    at = end + 1;
  }
}

std::string escape_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_escaped(text, out);
  return out;
}

bool is_escaped(std::string_view stored) { return stored.find(mark) != std::string_view::npos; }

std::string unescape_text(std::string_view stored) {
  std::string text;
  text.reserve(stored.size());
  while (true) {
    const std::size_t at = stored.find(mark);
    text.append(stored.substr(0, at));
    if (at == std::string_view::npos) {
      return text;
    }
    const int high = at + 2 < stored.size() ? value_of(stored[at + 1]) : -1;
    const int low = at + 2 < stored.size() ? value_of(stored[at + 2]) : -1;
    if (high < 0 || low < 0) {
      text.push_back(mark);
      stored.remove_prefix(at + 1);
      continue;
    }
    text.push_back(static_cast<char>(high * 16 + low));
    stored.remove_prefix(at + 3);
  }
}

}  // namespace postrider::postgres
