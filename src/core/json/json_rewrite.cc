#include "core/json/json_rewrite.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/parse_number.h"
#include "core/json/json_cursor.h"
#include "core/json/json_number.h"
#include "core/json/json_string.h"

namespace postrider {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

/// A written member of an object.
struct Member {
  std::string key;          // Decoded. Set only for the Python style.
  std::uint64_t index = 0;  // Of a key that is an array index; otherwise no_index.
  std::size_t begin = 0;    // Of `key:value` in the output.
  std::size_t end = 0;
};

constexpr std::uint64_t no_index = 0xffff'ffff;  // Larger than all array indexes.

std::uint64_t array_index(std::string_view key) {
  const bool is_canonical = key.size() == 1 || !key.starts_with('0');
  const std::uint64_t index = parse_number<std::uint64_t>(key).value_or(no_index);
  return is_canonical ? std::min(index, no_index) : no_index;
}

void append_unit(std::string& out, std::uint32_t unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out += hex_digits[(unit >> shift) & 15];
  }
}

/// The letter of a two-character escape, or zero if there is none.
constexpr char escape_letter(char character) {
  switch (character) {
    case '"':
    case '\\':
      return character;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return '\0';
  }
}

/// Decodes the character at `at` of valid UTF-8 and moves behind it.
std::uint32_t take_code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  std::uint32_t point = more == 0 ? first : first & (0x3fu >> more);
  for (int i = 0; i < more && at < text.size(); ++i) {
    point = point << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fu);
  }
  return point;
}

void append_escaped(std::string& out, std::uint32_t point) {
  if (point >= 0x10000) {
    append_unit(out, 0xd800 + ((point - 0x10000) >> 10));
    append_unit(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
  } else {
    append_unit(out, point);
  }
}

class Rewriter {
 public:
  Rewriter(std::string_view checked, JsonWriterStyle style)
      : cursor_(checked), is_python_(style == JsonWriterStyle::python) {
    out_.reserve(checked.size());
  }

  [[nodiscard]] std::string run() {
    write_value();
    return std::move(out_);
  }

 private:
  void write_value() {
    switch (cursor_.peek()) {
      case '{':
        write_object();
        return;
      case '[':
        write_array();
        return;
      case '"': {
        const std::string_view quoted = cursor_.take_scalar();
        write_string(quoted.substr(1, quoted.size() - 2));
        return;
      }
      case 't':
      case 'f':
      case 'n':
        out_ += cursor_.take_scalar();
        return;
      default:
        break;
    }
    const std::string_view number = cursor_.take_scalar();
    if (is_python_) {
      append_python_number(out_, number);
    } else {
      append_javascript_number(out_, number);
    }
  }

  void write_array() {
    cursor_.enter();
    out_ += '[';
    for (bool first = true; cursor_.next_element(); first = false) {
      out_ += first ? "" : comma();
      write_value();
    }
    out_ += ']';
  }

  void write_object() {
    cursor_.enter();
    out_ += '{';
    std::vector<Member> members;
    while (const std::optional<std::string_view> escaped = cursor_.next_key()) {
      std::string key = decode_json_content(*escaped);
      const std::size_t begin = out_.size();
      write_decoded(key);
      out_ += is_python_ ? ": " : ":";
      write_value();
      Member& member = members.emplace_back();
      member.index = is_python_ ? 0 : array_index(key);
      member.key = is_python_ ? std::move(key) : std::string{};
      member.begin = begin;
      member.end = out_.size();
    }
    join(members);
    out_ += '}';
  }

  /// Puts the members, which were written one after the other, in order and separates them.
  void join(std::vector<Member>& members) {
    if (members.empty()) {
      return;
    }
    const std::size_t begin = members.front().begin;
    const std::string written = out_.substr(begin);
    out_.resize(begin);
    // By key in Python, by index in JavaScript. The other one is the same in all members.
    std::ranges::stable_sort(members, [](const Member& a, const Member& b) {
      return a.index != b.index ? a.index < b.index : a.key < b.key;
    });
    for (const Member& member : members) {
      out_ += &member == members.data() ? "" : comma();
      out_.append(written, member.begin - begin, member.end - member.begin);
    }
  }

  void write_string(std::string_view content) { write_decoded(decode_json_content(content)); }

  void write_decoded(std::string_view text) {
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const char character = text[at];
      if (const char letter = escape_letter(character); letter != '\0') {
        out_ += '\\';
        out_ += letter;
        ++at;
      } else if (is_plain(character)) {
        out_ += character;
        ++at;
      } else {
        append_escaped(out_, take_code_point(text, at));
      }
    }
    out_ += '"';
  }

  /// True if a character is written as it is.
  [[nodiscard]] bool is_plain(char character) const {
    const auto byte = static_cast<unsigned char>(character);
    return byte >= 0x20 && (!is_python_ || byte < 0x7f);
  }

  [[nodiscard]] const char* comma() const { return is_python_ ? ", " : ","; }

  JsonCursor cursor_;
  bool is_python_;
  std::string out_;
};

}  // namespace

std::string rewrite_json(std::string_view checked, JsonWriterStyle style) {
  return Rewriter{checked, style}.run();
}

}  // namespace postrider
