#include "core/json/json_cursor.h"

#include <algorithm>

namespace postrider {
namespace {

constexpr std::string_view brackets_and_quotes = "{}[]\"";
constexpr std::string_view ends_of_scalar = ",]} \n\r\t";

}  // namespace

void JsonCursor::skip_space() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\r\t"), rest_.size()));
}

char JsonCursor::peek() {
  skip_space();
  return rest_.empty() ? '\0' : rest_.front();
}

void JsonCursor::enter() {
  skip_space();
  rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
}

std::optional<std::string_view> JsonCursor::next_key() {
  if (peek() == ',') {
    enter();
  }
  if (peek() != '"') {
    enter();  // The closing bracket.
    return std::nullopt;
  }
  const std::string_view key = take_string();
  if (peek() == ':') {
    enter();
  }
  return key.substr(1, key.size() >= 2 ? key.size() - 2 : 0);
}

bool JsonCursor::next_element() {
  if (peek() == ',') {
    enter();
  }
  if (peek() == ']' || peek() == '\0') {
    enter();
    return false;
  }
  return true;
}

std::string_view JsonCursor::take_scalar() {
  if (peek() == '"') {
    return take_string();
  }
  // Takes at least one character, so that reading terminates for any text.
  const std::size_t end = std::min(rest_.find_first_of(ends_of_scalar, 1), rest_.size());
  const std::string_view scalar = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return scalar;
}

// The next character is the opening quote.
std::string_view JsonCursor::take_string() {
  std::size_t at = 1;
  while (at < rest_.size() && rest_[at] != '"') {
    at += rest_[at] == '\\' ? 2 : 1;
  }
  at = std::min(at + 1, rest_.size());
  const std::string_view text = rest_.substr(0, at);
  rest_.remove_prefix(at);
  return text;
}

void JsonCursor::skip_value() {
  const char first = peek();
  if (first != '{' && first != '[') {
    (void)take_scalar();
    return;
  }
  std::size_t depth = 0;
  do {
    rest_.remove_prefix(std::min(rest_.find_first_of(brackets_and_quotes), rest_.size()));
    switch (peek()) {
      case '"':
        (void)take_string();
        continue;
      case '{':
      case '[':
        ++depth;
        break;
      default:
        --depth;
        break;
    }
    enter();
  } while (depth > 0 && !rest_.empty());
}

}  // namespace postrider
