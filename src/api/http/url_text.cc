#include "api/http/url_text.h"

#include <algorithm>
#include <cstdint>

namespace postrider::api {
namespace {

enum class Part : std::uint8_t { path, query };

int hex_value(char c) {
  if ('0' <= c && c <= '9') {
    return c - '0';
  }
  if ('a' <= c && c <= 'f') {
    return c - 'a' + 10;
  }
  if ('A' <= c && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// Decodes the `%XX` at the front of `text`. Returns -1 if it is not a valid escape.
int escaped_byte(std::string_view text) {
  if (text.size() < 3) {
    return -1;
  }
  const int high = hex_value(text[1]);
  const int low = hex_value(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

Result<std::string> decode(std::string_view raw, Part part) {
  std::string out;
  out.reserve(raw.size());
  bool ascii = true;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    const bool escaped = c == '%';
    const int byte = escaped ? escaped_byte(raw.substr(i)) : c;
    if (escaped && byte < 0) {
      return fail(Errc::invalid, "A `%` in the URL must be followed by two hexadecimal digits.");
    }
    c = static_cast<char>(byte);
    i += escaped ? 2 : 0;
    if (c == '/' && escaped && part == Part::path) {
      return fail(Errc::invalid, "The path must not contain an encoded slash (`%2F`).");
    }
    if (c == '+' && !escaped && part == Part::query) {
      c = ' ';
    }
    if (c == '\0' || (part == Part::path && is_control(c))) {
      return fail(Errc::invalid,
                  "The URL must not contain NUL, and its path no control characters.");
    }
    ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    out.push_back(c);
  }
  if (!ascii && !is_utf8(out)) {
    return fail(Errc::invalid, "The decoded URL must be valid UTF-8.");
  }
  return out;
}

bool has_dot_segment(std::string_view path) {
  std::size_t start = 1;
  while (start <= path.size()) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    const std::string_view segment = path.substr(start, slash - start);
    if (segment == "." || segment == "..") {
      return true;
    }
    start = slash + 1;
  }
  return false;
}

Result<void> parse_query(std::string_view raw, Target& target) {
  while (!raw.empty()) {
    const std::string_view pair = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(pair.size() + 1, raw.size()));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    POSTRIDER_TRY(std::string name, decode(pair.substr(0, equals), Part::query));
    const std::size_t after = std::min(equals + 1, pair.size());
    POSTRIDER_TRY(std::string value, decode(pair.substr(after), Part::query));
    target.query.emplace_back(std::move(name), std::move(value));
  }
  return {};
}

// The continuation bytes that a UTF-8 lead byte requires, and the range of the first of them.
struct Utf8Tail {
  std::size_t bytes = 0;  // 0 if the byte is not a lead byte.
  unsigned char first_min = 0x80;
  unsigned char first_max = 0xbf;
};

Utf8Tail utf8_tail_after(unsigned char lead) {
  if (0xc2 <= lead && lead <= 0xdf) {
    return {.bytes = 1};
  }
  if (0xe0 <= lead && lead <= 0xef) {
    return {.bytes = 2,
            .first_min = static_cast<unsigned char>(lead == 0xe0 ? 0xa0 : 0x80),
            .first_max = static_cast<unsigned char>(lead == 0xed ? 0x9f : 0xbf)};
  }
  if (0xf0 <= lead && lead <= 0xf4) {
    return {.bytes = 3,
            .first_min = static_cast<unsigned char>(lead == 0xf0 ? 0x90 : 0x80),
            .first_max = static_cast<unsigned char>(lead == 0xf4 ? 0x8f : 0xbf)};
  }
  return {};
}

bool starts_with_tail(std::string_view text, const Utf8Tail& tail) {
  if (tail.bytes == 0 || text.size() < tail.bytes) {
    return false;
  }
  const auto first = static_cast<unsigned char>(text.front());
  const bool first_fits = tail.first_min <= first && first <= tail.first_max;
  return first_fits && std::ranges::all_of(text.substr(1, tail.bytes - 1), [](char c) {
           return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
         });
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    if (static_cast<unsigned char>(bytes.front()) < 0x80) {
      bytes.remove_prefix(1);
      continue;
    }
    const Utf8Tail tail = utf8_tail_after(static_cast<unsigned char>(bytes.front()));
    if (!starts_with_tail(bytes.substr(1), tail)) {
      return false;
    }
    bytes.remove_prefix(tail.bytes + 1);
  }
  return true;
}

Result<Target> parse_target(std::string_view raw) {
  if (!raw.starts_with('/')) {
    return fail(Errc::invalid,
                "The request target must be a path that starts with `/`. Absolute URLs and `*` are "
                "not supported.");
  }
  if (raw.find('#') != std::string_view::npos) {
    return fail(Errc::invalid, "The request target must not contain a fragment (`#`).");
  }
  const std::size_t question = std::min(raw.find('?'), raw.size());
  Target target;
  POSTRIDER_TRY(target.path, decode(raw.substr(0, question), Part::path));
  if (has_dot_segment(target.path)) {
    return fail(Errc::invalid, "The path must not contain `.` or `..` segments.");
  }
  if (question < raw.size()) {
    POSTRIDER_CHECK(parse_query(raw.substr(question + 1), target));
  }
  return target;
}

}  // namespace postrider::api
