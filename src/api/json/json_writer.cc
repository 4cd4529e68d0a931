#include "api/json/json_writer.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/json/json_string.h"

namespace postrider::api {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

/// The length of the UTF-8 sequence at `at`, or 0 if it is not valid. Follows Unicode table 3-7: no
/// overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    return 1;
  }
  if (first < 0xC2 || first > 0xF4 || !is_continuation(text, at + 1)) {
    return 0;
  }
  if (first < 0xE0) {
    return 2;
  }
  const auto second = static_cast<unsigned char>(text[at + 1]);
  if (!is_continuation(text, at + 2)) {
    return 0;
  }
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool beyond = first == 0xF4 && second > 0x8F;
  return overlong || beyond || !is_continuation(text, at + 3) ? 0 : 4;
}

}  // namespace

void JsonWriter::separate() {
  if (comma_) {
    out_.push_back(',');
  }
  comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  out_.push_back(bracket);
  comma_ = false;
}

void JsonWriter::close(char bracket) {
  out_.push_back(bracket);
  comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_.push_back(':');
  comma_ = false;
}

void JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
}

void JsonWriter::value(double number) {
  POSTRIDER_ASSERT(std::isfinite(number));
  raw(fmt::format("{}", number));
}

void JsonWriter::value(WallTime time) { value(std::string_view{to_rfc3339(time)}); }

void JsonWriter::raw(std::string_view json) {
  separate();
  out_.append(json);
}

void JsonWriter::bytes(std::string_view untrusted) {
  value(std::string_view{clean_utf8(untrusted)});
}

std::string clean_utf8(std::string_view untrusted) {
  std::string text;
  text.reserve(untrusted.size());
  for (std::size_t at = 0; at < untrusted.size();) {
    const std::size_t length = character_length(untrusted, at);
    text.append(length == 0 ? replacement : untrusted.substr(at, length));
    at += length == 0 ? 1 : length;
  }
  return text;
}

std::string clip(std::string_view text, std::size_t length_max) {
  if (text.size() <= length_max) {
    return std::string{text};
  }
  std::size_t length = length_max;
  while (length > 0 && is_continuation(text, length)) {
    --length;
  }
  return std::string{text.substr(0, length)} + "…";
}

}  // namespace postrider::api
