#include "adapters/json_schema/text_rules.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/validation_results.hpp>

#include "core/base/time.h"
#include "core/net/address.h"

namespace postrider::json_schema {
namespace {

using Context = std::vector<std::string>;

constexpr std::size_t pattern_bytes_max = 512;
constexpr std::size_t simple_pattern_bytes_max = 128;
constexpr std::uint64_t copies_max = 10'000;  // `a{100}` becomes 100 states.
constexpr std::size_t simple_quantifiers_max = 2;
constexpr std::size_t text_bytes_max = 4096;

/// Selects libstdc++'s matcher whose time is proportional to pattern size times text size, and
/// whose stack does not grow with the text. It does not support back references.
const auto regex_flags = std::regex_constants::ECMAScript | std::regex_constants::__polynomial;

/// Converts validated UTF-8 to code points.
std::wstring to_wide(std::string_view text) {
  std::wstring wide;
  wide.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t point = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (std::size_t index = 1; index < length && at + index < text.size(); ++index) {
      point = point << 6 | (static_cast<unsigned char>(text[at + index]) & 0x3Fu);
    }
    wide += static_cast<wchar_t>(point);
    at += length;
  }
  return wide;
}

struct Quantifiers {
  std::size_t count = 0;
  std::uint64_t copies = 1;  // An upper bound: the product of all `{n}`, as if they were nested.
  bool on_group = false;

  void add_counted(std::string_view braces) {
    std::uint64_t number = 0;
    std::uint64_t largest = 1;
    for (const char character : braces) {
      const bool is_digit = character >= '0' && character <= '9';
      number = is_digit ? std::min(number * 10 + static_cast<std::uint64_t>(character - '0'),
                                   copies_max + 1)
                        : 0;
      largest = std::max(largest, number);
    }
    copies = std::min(copies * largest, copies_max + 1);
  }
};

/// Ignores escapes and character classes.
Quantifiers count_quantifiers(std::string_view pattern) {
  Quantifiers found;
  bool in_class = false;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char character = pattern[at];
    if (character == '\\') {
      ++at;
    } else if (in_class) {
      in_class = character != ']';
    } else if (character == '[') {
      in_class = true;
    } else if (character == '*' || character == '+' || character == '{') {
      found.on_group = found.on_group || (at > 0 && pattern[at - 1] == ')');
      ++found.count;
    }
    if (!in_class && character == '{') {
      found.add_counted(pattern.substr(at, pattern.find('}', at) - at));
    }
  }
  return found;
}

Result<std::wregex> compile(std::string_view pattern) {
  try {
    return std::wregex{to_wide(pattern), regex_flags};
  } catch (const std::regex_error& error) {
    return fail(Errc::invalid,
                fmt::format("is not a supported regular expression ({}). Back references and named "
                            "classes such as \\p{{L}} are not supported.",
                            error.what()));
  }
}

/// A rule for strings, called by valijson. It is copied into the schema once.
template <class Rule>
class TextConstraint final : public valijson::constraints::PolyConstraint {
 public:
  explicit TextConstraint(Rule rule) : rule_(std::move(rule)) {}

  bool validate(const valijson::adapters::Adapter& target, const Context& context,
                valijson::ValidationResults* results) const override {
    if (!target.isString()) {
      return true;
    }
    const std::string fault = rule_.fault(target.asString());
    if (!fault.empty() && results != nullptr) {
      results->pushError(context, fault);
    }
    return fault.empty();
  }

 private:
  Constraint* cloneInto(void* place) const override { return new (place) TextConstraint(rule_); }
  [[nodiscard]] size_t sizeOf() const override { return sizeof *this; }

  Rule rule_;
};

struct PatternRule {
  std::string pattern;
  std::shared_ptr<const std::wregex> regex;

  [[nodiscard]] std::string fault(const std::string& text) const {
    if (text.size() > text_bytes_max) {
      return fmt::format("must have at most {} bytes to be matched with a pattern.",
                         text_bytes_max);
    }
    return std::regex_search(to_wide(text), *regex)
               ? std::string{}
               : fmt::format("must match the pattern `{}`.", pattern);
  }
};

bool is_uuid(std::string_view text) {
  constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(text, shape, [](char character, char wanted) {
    const char lower = static_cast<char>(character | 0x20);
    const bool is_hex = (character >= '0' && character <= '9') || (lower >= 'a' && lower <= 'f');
    return wanted == 'x' ? is_hex : character == wanted;
  });
}

/// Unknown formats are ignored, as the standard allows.
struct FormatRule {
  std::string format;

  [[nodiscard]] bool is_met(const std::string& text) const {
    if (format == "date-time") {
      return parse_rfc3339(text).has_value();
    }
    if (format == "date") {
      return text.size() == 10 && parse_rfc3339(text + "T00:00:00Z").has_value();
    }
    if (format == "ipv4" || format == "ipv6") {
      const std::optional<IpAddress> address = IpAddress::parse(text);
      return address && address->is_v6 == (format == "ipv6");
    }
    return format != "uuid" || is_uuid(text);
  }
  [[nodiscard]] std::string fault(const std::string& text) const {
    return is_met(text) ? std::string{} : fmt::format("must be a {}.", format);
  }
};

class PatternBuilder final : public valijson::ConstraintBuilder {
 public:
  [[nodiscard]] valijson::constraints::Constraint* make(
      const valijson::adapters::Adapter& value) const override {
    std::string pattern = value.asString();
    Result<std::wregex> regex = compile(pattern);
    if (!regex) {
      throw std::runtime_error(regex.error().message);
    }
    return new TextConstraint(
        PatternRule{std::move(pattern), std::make_shared<const std::wregex>(*std::move(regex))});
  }
};

class FormatBuilder final : public valijson::ConstraintBuilder {
 public:
  [[nodiscard]] valijson::constraints::Constraint* make(
      const valijson::adapters::Adapter& value) const override {
    return new TextConstraint(FormatRule{value.asString()});
  }
};

}  // namespace

Result<void> check_pattern(std::string_view pattern) {
  const Quantifiers found = count_quantifiers(pattern);
  if (pattern.size() > pattern_bytes_max) {
    return fail(Errc::invalid, fmt::format("must have at most {} bytes.", pattern_bytes_max));
  }
  if (found.copies > copies_max) {
    return fail(Errc::invalid,
                fmt::format("must not have repetitions whose numbers multiply to more than {}.",
                            copies_max));
  }
  return compile(pattern).map([](const std::wregex&) {});
}

Result<void> check_simple_pattern(std::string_view pattern) {
  const Quantifiers found = count_quantifiers(pattern);
  if (pattern.size() > simple_pattern_bytes_max) {
    return fail(Errc::invalid,
                fmt::format("must have at most {} bytes.", simple_pattern_bytes_max));
  }
  if (found.on_group || found.count > simple_quantifiers_max || found.copies > copies_max) {
    return fail(Errc::invalid,
                fmt::format("must be simple: at most {} of `*`, `+` and `{{n}}`, none of them on a "
                            "group.",
                            simple_quantifiers_max));
  }
  POSTRIDER_CHECK(compile(pattern).map([](const std::wregex&) {}));
  try {
    (void)std::regex{std::string{pattern}};  // As valijson compiles it.
  } catch (const std::regex_error& error) {
    return fail(Errc::invalid,
                fmt::format("is not a supported regular expression ({}).", error.what()));
  }
  return {};
}

void add_text_rules(valijson::SchemaParser& parser) {
  parser.addConstraintBuilder(std::string{pattern_keyword}, new PatternBuilder);
  parser.addConstraintBuilder(std::string{format_keyword}, new FormatBuilder);
}

}  // namespace postrider::json_schema
