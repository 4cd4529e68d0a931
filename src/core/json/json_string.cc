#include "core/json/json_string.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace postrider {
namespace {

constexpr int hex_value(char character) {
  if (character >= '0' && character <= '9') {
    return character - '0';
  }
  const char lower = static_cast<char>(character | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

constexpr bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xd800 && unit <= 0xdbff; }
constexpr bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

constexpr std::uint64_t every_byte(std::uint8_t byte) { return 0x0101010101010101ull * byte; }

// Sets the top bit of each byte that ends a run of plain characters: a quote, a backslash, a
// control character or the start of a UTF-8 sequence. Only the lowest mark is exact; higher marks
// may come from a borrow in the subtraction.
constexpr std::uint64_t marks_of_specials(std::uint64_t word) {
  const std::uint64_t quote = word ^ every_byte('"');
  const std::uint64_t backslash = word ^ every_byte('\\');
  return ((quote - every_byte(1)) | (backslash - every_byte(1)) | (word - every_byte(0x20)) |
          word) &
         every_byte(0x80);
}

constexpr bool is_special(char character) {
  return static_cast<unsigned char>(character) < 0x20 || character == '"' || character == '\\' ||
         static_cast<unsigned char>(character) >= 0x80;
}

class StringScanner {
 public:
  explicit StringScanner(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  [[nodiscard]] JsonStringScan scan() {
    for (;;) {
      skip_plain();
      if (at_ == end_) {
        return stop("the string has no closing quote");
      }
      if (*at_ == '"') {
        return stop({});
      }
      if (static_cast<unsigned char>(*at_) < 0x20) {
        return stop("a control character in a string must be escaped");
      }
      const char* const start = at_;
      const std::string_view error = *at_ == '\\' ? scan_escape() : scan_utf8();
      if (!error.empty()) {
        at_ = start;
        return stop(error);
      }
    }
  }

 private:
  [[nodiscard]] JsonStringScan stop(std::string_view error) const {
    return {.length = static_cast<std::size_t>(at_ - begin_),
            .has_escape = has_escape_,
            .error = error};
  }

  void skip_plain() {
    std::uint64_t word = 0;
    while (static_cast<std::size_t>(end_ - at_) >= sizeof word) {
      std::memcpy(&word, at_, sizeof word);
      const std::uint64_t marks = marks_of_specials(word);
      if (marks == 0) {
        at_ += sizeof word;
        continue;
      }
      if constexpr (std::endian::native == std::endian::little) {
        at_ += std::countr_zero(marks) / 8;
        return;
      }
      break;
    }
    while (at_ < end_ && !is_special(*at_)) {
      ++at_;
    }
  }

  [[nodiscard]] std::string_view scan_escape() {
    constexpr std::string_view letters = "\"\\/bfnrt";
    has_escape_ = true;
    ++at_;
    if (at_ == end_ || *at_ != 'u') {
      if (at_ == end_ || letters.find(*at_) == std::string_view::npos) {
        return "unknown escape in a string";
      }
      ++at_;
      return {};
    }
    const std::optional<std::uint32_t> unit = scan_unit();
    if (!unit) {
      return "\\u needs four hexadecimal digits";
    }
    if (is_low_surrogate(*unit)) {
      return "a low surrogate without a high one before it";
    }
    if (!is_high_surrogate(*unit)) {
      return {};
    }
    if (at_ < end_ && *at_ == '\\') {
      ++at_;
      const std::optional<std::uint32_t> low = scan_unit();
      if (low && is_low_surrogate(*low)) {
        return {};
      }
    }
    return "a high surrogate without a low one after it";
  }

  // `u` and four digits.
  [[nodiscard]] std::optional<std::uint32_t> scan_unit() {
    if (end_ - at_ < 5 || *at_ != 'u') {
      return std::nullopt;
    }
    std::uint32_t unit = 0;
    for (int digit = 1; digit <= 4; ++digit) {
      const int value = hex_value(at_[digit]);
      if (value < 0) {
        return std::nullopt;
      }
      unit = unit << 4 | static_cast<std::uint32_t>(value);
    }
    at_ += 5;
    return unit;
  }

  // Two to four bytes. Rejects overlong forms, surrogates and code points above U+10FFFF.
  [[nodiscard]] std::string_view scan_utf8() {
    const auto byte = [this](int index) { return static_cast<unsigned char>(at_[index]); };
    const unsigned char lead = byte(0);
    const int length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || end_ - at_ < length) {
      return "invalid UTF-8";
    }
    // The ranges of the second byte exclude overlong forms and surrogates (RFC 3629).
    const unsigned char second_min = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char second_max = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    bool fine = byte(1) >= second_min && byte(1) <= second_max;
    for (int index = 2; index < length; ++index) {
      fine = fine && (byte(index) & 0xc0) == 0x80;
    }
    if (!fine) {
      return "invalid UTF-8";
    }
    at_ += length;
    return {};
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool has_escape_ = false;
};

void append_utf8(std::string& out, std::uint32_t point) {
  const auto tail = [&out, point](int shift) {
    out += static_cast<char>(0x80 | ((point >> shift) & 0x3f));
  };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | (point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Removes `\uXXXX` from the front and returns its value.
std::uint32_t take_unit(std::string_view& content) {
  std::uint32_t unit = 0;
  for (std::size_t digit = 2; digit < 6; ++digit) {
    unit = unit << 4 | static_cast<std::uint32_t>(hex_value(content[digit]));
  }
  content.remove_prefix(6);
  return unit;
}

constexpr char unescaped(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return letter;  // A quote, a backslash or a slash.
  }
}

constexpr bool needs_escape(char character) {
  return static_cast<unsigned char>(character) < 0x20 || character == '"' || character == '\\';
}

void append_escaped(std::string& out, char character) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (character) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += hex[static_cast<unsigned char>(character) >> 4];
      out += hex[static_cast<unsigned char>(character) & 15];
  }
}

}  // namespace

JsonStringScan scan_json_string(std::string_view text) { return StringScanner{text}.scan(); }

std::string decode_json_content(std::string_view content) {
  std::string text;
  text.reserve(content.size());
  for (;;) {
    const std::size_t plain = std::min(content.find('\\'), content.size());
    text += content.substr(0, plain);
    content.remove_prefix(plain);
    if (content.empty()) {
      return text;
    }
    if (content[1] != 'u') {
      text += unescaped(content[1]);
      content.remove_prefix(2);
      continue;
    }
    std::uint32_t point = take_unit(content);
    if (is_high_surrogate(point)) {
      point = 0x10000 + ((point - 0xd800) << 10) + (take_unit(content) - 0xdc00);
    }
    append_utf8(text, point);
  }
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t next = 0; next < text.size(); ++next) {
    if (needs_escape(text[next])) {
      out.append(text, done, next - done);
      append_escaped(out, text[next]);
      done = next + 1;
    }
  }
  out.append(text, done);
  out += '"';
}

}  // namespace postrider
