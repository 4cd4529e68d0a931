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

// The byte that `%XX` at the front stands for; -1 when it is no such escape.
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
                  "The URL must not contain NUL or, in its path, control characters.");
    }
    ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    out.push_back(c);
  }
  if (!ascii && !is_utf8(out)) {
    return fail(Errc::invalid, "The URL must be UTF-8 once its escapes are decoded.");
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

// How many bytes follow a UTF-8 lead byte, and the range of the first of them; 0 when it is no
// lead.
struct Sequence {
  std::size_t tail = 0;
  unsigned char first_min = 0x80;
  unsigned char first_max = 0xbf;
};

Sequence sequence_of(unsigned char lead) {
  if (0xc2 <= lead && lead <= 0xdf) {
    return {.tail = 1};
  }
  if (0xe0 <= lead && lead <= 0xef) {
    return {.tail = 2,
            .first_min = static_cast<unsigned char>(lead == 0xe0 ? 0xa0 : 0x80),
            .first_max = static_cast<unsigned char>(lead == 0xed ? 0x9f : 0xbf)};
  }
  if (0xf0 <= lead && lead <= 0xf4) {
    return {.tail = 3,
            .first_min = static_cast<unsigned char>(lead == 0xf0 ? 0x90 : 0x80),
            .first_max = static_cast<unsigned char>(lead == 0xf4 ? 0x8f : 0xbf)};
  }
  return {};
}

bool is_complete(const Sequence& sequence, std::string_view tail) {
  if (sequence.tail == 0 || tail.size() < sequence.tail) {
    return false;
  }
  const auto first = static_cast<unsigned char>(tail.front());
  const bool first_fits = sequence.first_min <= first && first <= sequence.first_max;
  return first_fits && std::ranges::all_of(tail.substr(1, sequence.tail - 1), [](char c) {
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
    const Sequence sequence = sequence_of(static_cast<unsigned char>(bytes.front()));
    if (!is_complete(sequence, bytes.substr(1))) {
      return false;
    }
    bytes.remove_prefix(sequence.tail + 1);
  }
  return true;
}

Result<Target> parse_target(std::string_view raw) {
  if (!raw.starts_with('/')) {
    return fail(Errc::invalid,
                "The request target must be a path that starts with `/`; absolute URLs and `*` are "
                "for proxies.");
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
