#include "main/json_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/json/json_string.h"

namespace postrider {
namespace {

// A field has the same type in every line. These fields, and all that end in `_ms`, are numbers.
constexpr std::array<std::string_view, 7> number_fields = {
    "attempt", "http_status", "done", "skipped", "failed", "webhooks", "deadline_ms"};

bool is_number_field(std::string_view key) {
  return key.ends_with("_ms") || std::ranges::find(number_fields, key) != number_fields.end();
}

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  // from_chars accepts `nan` and `inf`; JSON does not.
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(number);
}

/// Log lines are ASCII. This keeps the output valid JSON if one is not.
std::string replace_non_ascii(std::string_view text) {
  std::string safe{text};
  std::ranges::replace_if(safe, [](char c) { return c < ' ' || c > '~'; }, '?');
  return safe;
}

void append_text(std::string& out, std::string_view key, std::string_view value) {
  out += ',';
  append_json_string(out, replace_non_ascii(key));
  out += ':';
  append_json_string(out, replace_non_ascii(value));
}

/// Removes `"…"` from the front and returns it without quotes and escapes.
std::string take_quoted(std::string_view& rest) {
  std::string value;
  std::size_t at = 1;
  for (; at < rest.size() && rest[at] != '"'; ++at) {
    if (rest[at] == '\\' && at + 1 < rest.size()) {
      ++at;
    }
    value += rest[at];
  }
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return value;
}

std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '_';
  });
}

void append_field(std::string& out, std::string_view key, std::string_view& rest) {
  if (rest.starts_with('"')) {
    append_text(out, key, take_quoted(rest));
    return;
  }
  const std::string_view value = take_word(rest);
  if (is_number_field(key) && is_number(value)) {
    out += ",\"";
    out += key;
    out += "\":";
    out += value;
  } else {
    append_text(out, key, value);
  }
}

}  // namespace

std::string to_json_line(const LogLine& line) {
  std::string out = R"({"time":")" + to_rfc3339(line.at) + '"';
  append_text(out, "level", line.level);
  std::string_view rest = line.text;
  append_text(out, "message", take_word(rest));
  while (!rest.empty()) {
    rest.remove_prefix(1);  // The space.
    const std::size_t equals = rest.find('=');
    const std::string_view key = rest.substr(0, std::min(equals, rest.size()));
    if (equals == std::string_view::npos || !is_key(key)) {
      append_text(out, "rest", rest);
      break;
    }
    rest.remove_prefix(equals + 1);
    append_field(out, key, rest);
  }
  out += '}';
  return out;
}

}  // namespace postrider
