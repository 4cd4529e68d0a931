#include "adapters/json_schema/re2_syntax.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace postrider::json_schema {
namespace {

// The white space of ASCII. RE2's own `\s` omits the vertical tab.
constexpr std::string_view space = R"(\t-\r )";
constexpr std::string_view not_space = R"(\x00-\x08\x0e-\x1f!-\x{10FFFF})";
// Escapes with the same meaning in RE2. `B` and `b` only outside of classes.
constexpr std::string_view same_escapes = "dDwWtnrvfpP";

bool is_letter_or_digit(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9');
}

tl::unexpected<Error> inexpressible(std::string_view what) {
  return fail(Errc::invalid,
              fmt::format("uses {}, which RE2 cannot express. Patterns are matched by RE2, in time "
                          "proportional to the text.",
                          what));
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  Result<std::string> translate() {
    while (!rest_.empty()) {
      POSTRIDER_CHECK(translate_next());
    }
    return std::move(out_);
  }

 private:
  Result<void> translate_next() {
    if (rest_.starts_with('\\')) {
      return escape();
    }
    if (!in_class_ && rest_.starts_with("(?")) {
      return group();
    }
    if (!in_class_ && take("[^]")) {
      out_ += "(?s:.)";
    } else if (!in_class_ && take("[]")) {
      out_ += R"([^\x00-\x{10FFFF}])";
    } else {
      const char next = rest_.front();
      in_class_ = in_class_ ? next != ']' : next == '[';
      copy(1);
    }
    return {};
  }

  Result<void> group() {
    for (const std::string_view start : {"(?=", "(?!"}) {
      if (rest_.starts_with(start)) {
        return inexpressible("look-ahead (" + std::string{start} + ")");
      }
    }
    for (const std::string_view start : {"(?<=", "(?<!"}) {
      if (rest_.starts_with(start)) {
        return inexpressible("look-behind (" + std::string{start} + ")");
      }
    }
    if (take("(?<")) {
      out_ += "(?P<";
    } else {
      copy(2);
    }
    return {};
  }

  Result<void> escape() {
    if (rest_.size() < 2) {
      copy(1);  // RE2 reports it.
      return {};
    }
    const char kind = rest_[1];
    if ((kind >= '1' && kind <= '9') || kind == 'k') {
      return inexpressible(fmt::format("the back-reference \\{}", kind));
    }
    switch (kind) {
      case 's':
      case 'S':
        rest_.remove_prefix(2);
        append_class(kind == 's' ? space : not_space);
        return {};
      case 'u':
        return unicode_escape();
      case 'c':
        return control_escape();
      case '0':
        rest_.remove_prefix(2);
        out_ += R"(\x00)";
        return {};
      case 'b':
      case 'B':
        if (in_class_) {
          rest_.remove_prefix(2);
          out_ += kind == 'b' ? R"(\x08)" : "B";
        } else {
          copy(2);
        }
        return {};
      case 'x':
        copy(2);  // RE2 reports missing digits.
        return {};
      default:
        return other_escape(kind);
    }
  }

  Result<void> other_escape(char kind) {
    if (!is_letter_or_digit(kind)) {
      if (static_cast<unsigned char>(kind) >= 0x80) {
        rest_.remove_prefix(1);  // RE2 does not allow to escape such a character.
      } else {
        copy(2);
      }
      return {};
    }
    if (same_escapes.find(kind) == std::string_view::npos) {
      return fail(Errc::invalid, fmt::format("contains the unknown escape `\\{}`.", kind));
    }
    copy(2);
    return {};
  }

  Result<void> unicode_escape() {
    std::optional<std::uint32_t> point = take_code_unit();
    if (point && *point >= 0xD800 && *point < 0xDC00) {
      const std::optional<std::uint32_t> low = take_code_unit();
      const bool is_pair = low && *low >= 0xDC00 && *low < 0xE000;
      point = is_pair ? std::optional{0x10000 + ((*point - 0xD800) << 10) + (*low - 0xDC00)}
                      : std::nullopt;
    } else if (point && *point >= 0xDC00 && *point < 0xE000) {
      point = std::nullopt;
    }
    if (!point) {
      return fail(Errc::invalid,
                  "contains an invalid escape: `\\u` needs four hexadecimal digits, and surrogates "
                  "need to be in pairs.");
    }
    out_ += fmt::format("\\x{{{:X}}}", *point);
    return {};
  }

  std::optional<std::uint32_t> take_code_unit() {
    constexpr std::size_t length = 6;  // `\u00e9`
    std::uint32_t unit = 0;
    if (rest_.size() < length || !rest_.starts_with("\\u")) {
      return std::nullopt;
    }
    const char* end = rest_.data() + length;
    if (std::from_chars(rest_.data() + 2, end, unit, 16).ptr != end) {
      return std::nullopt;
    }
    rest_.remove_prefix(length);
    return unit;
  }

  Result<void> control_escape() {
    const char letter = rest_.size() > 2 ? rest_[2] : '\0';
    const char lower = static_cast<char>(letter | 0x20);
    if (lower < 'a' || lower > 'z') {
      return fail(Errc::invalid, "contains an invalid escape: `\\c` needs a letter.");
    }
    rest_.remove_prefix(3);
    out_ += fmt::format("\\x{:02X}", lower - 'a' + 1);
    return {};
  }

  bool take(std::string_view expected) {
    const bool is_next = rest_.starts_with(expected);
    rest_.remove_prefix(is_next ? expected.size() : 0);
    return is_next;
  }
  void copy(std::size_t length) {
    out_ += rest_.substr(0, length);
    rest_.remove_prefix(length);
  }
  void append_class(std::string_view ranges) {
    out_ += in_class_ ? ranges : fmt::format("[{}]", ranges);
  }

  std::string_view rest_;
  std::string out_;
  bool in_class_ = false;
};

}  // namespace

Result<std::string> to_re2_syntax(std::string_view pattern) {
  return Translator{pattern}.translate();
}

}  // namespace postrider::json_schema
