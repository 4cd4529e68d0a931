#include "main/json_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace postrider {
namespace {

// A field has the same type in every line. These fields, and all that end in one of the units, are
// numbers; all others except the boolean ones are texts. docs/logs.md lists them; a test compares
// the lists.
constexpr std::array<std::string_view, 17> number_fields = {
    "attempt",     "attempts",   "count",    "done",       "failed",  "failures",
    "http_status", "io_threads", "messages", "open_files", "pid",     "rows",
    "shards",      "skipped",    "status",   "waiting",    "webhooks"};
constexpr std::array<std::string_view, 3> number_units = {"_ms", "_bytes", "_max"};
constexpr std::array<std::string_view, 2> boolean_fields = {"cut_off", "damaged"};

bool is_boolean(std::string_view key, std::string_view value) {
  return (value == "true" || value == "false") &&
         std::ranges::find(boolean_fields, key) != boolean_fields.end();
}

bool is_number_field(std::string_view key) {
  return std::ranges::any_of(number_units,
                             [key](std::string_view unit) { return key.ends_with(unit); }) ||
         std::ranges::find(number_fields, key) != number_fields.end();
}

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  // from_chars accepts `nan` and `inf`; JSON does not.
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(number);
}

/// Log lines are ASCII. Replacing the rest keeps the output valid JSON if one is not.
void append_character(std::string& out, char character) {
  if (character == '"' || character == '\\') {
    out += '\\';
  }
  out += ' ' <= character && character <= '~' ? character : '?';
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char character : text) {
    append_character(out, character);
  }
  out += '"';
}

void append_key(std::string& out, std::string_view key) {
  out += ',';
  append_text(out, key);
  out += ':';
}

/// Removes `"…"` from the front of `rest` and appends it.
void append_quoted(std::string& out, std::string_view& rest) {
  out += '"';
  std::size_t at = 1;
  for (; at < rest.size() && rest[at] != '"'; ++at) {
    if (rest[at] == '\\' && at + 1 < rest.size()) {
      ++at;
    }
    append_character(out, rest[at]);
  }
  out += '"';
  rest.remove_prefix(std::min(at + 1, rest.size()));
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

/// Removes the value from the front of `rest` and appends it.
void append_value(std::string& out, std::string_view key, std::string_view& rest) {
  if (rest.starts_with('"')) {
    append_quoted(out, rest);
    return;
  }
  const std::string_view value = take_word(rest);
  if ((is_number_field(key) && is_number(value)) || is_boolean(key, value)) {
    out += value;
  } else {
    append_text(out, value);
  }
}

}  // namespace

void append_json_line(const LogLine& line, std::string& out) {
  out += R"({"time":")";
  out += to_rfc3339(line.at);
  out += '"';
  append_key(out, "level");
  append_text(out, line.level);
  std::string_view rest = line.text;
  append_key(out, "message");
  append_text(out, take_word(rest));
  while (!rest.empty()) {
    rest.remove_prefix(1);  // The space.
    const std::size_t equals = rest.find('=');
    const std::string_view key = rest.substr(0, std::min(equals, rest.size()));
    if (equals == std::string_view::npos || !is_key(key)) {
      append_key(out, "rest");
      append_text(out, rest);
      break;
    }
    rest.remove_prefix(equals + 1);
    append_key(out, key);
    append_value(out, key, rest);
  }
  out += '}';
}

}  // namespace postrider
