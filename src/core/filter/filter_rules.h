// The rules of a filter for a single value: the elements of the arrays in its pattern. Used by
// filter only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/wildcard.h"
#include "core/net/address.h"

namespace postrider::filter {

/// A value in an event that is neither an object nor an array. Refers to the event's text, which
/// must outlive this object. Owns a copy only of a string that contains escapes.
class Scalar {
 public:
  enum class Kind { string, number, literal };

  /// `raw` is JSON text.
  [[nodiscard]] static Scalar from_json(std::string_view raw);
  [[nodiscard]] static Scalar from_text(std::string_view text) {
    return Scalar{Kind::string, text};
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  /// Decoded if the value is a string, otherwise JSON text.
  [[nodiscard]] std::string_view text() const { return decoded_ ? *decoded_ : text_; }

 private:
  Scalar(Kind kind, std::string_view text) : kind_(kind), text_(text) {}

  Kind kind_;
  std::string_view text_;
  std::optional<std::string> decoded_;
};

struct AnyValue {};  // exists: true
/// Plain values. Sorted, so that a long list is searched quickly.
struct OneOf {
  std::vector<std::string> texts;
  std::vector<std::string> numbers;   // As written. Sorted and compared by value.
  std::vector<std::string> literals;  // true, false, null

  void add(const Scalar& value);
  /// Call after the last `add`.
  void sort();
};
struct TextIgnoringCase {
  std::string text;
};
struct TextPrefix {
  std::string text;
  bool ignore_case = false;
};
struct TextSuffix {
  std::string text;
  bool ignore_case = false;
};
struct NumberBound {
  std::string number;  // As written.
  bool inclusive = false;
};
struct NumberRange {
  std::optional<NumberBound> low;
  std::optional<NumberBound> high;
};

using Test = std::variant<AnyValue, OneOf, TextIgnoringCase, TextPrefix, TextSuffix, NumberRange,
                          Wildcard, Cidr>;

/// Matches if any of its tests passes or, for `anything-but`, if none does.
struct Rule {
  std::vector<Test> tests;
  bool anything_but = false;
};

[[nodiscard]] bool matches(const Rule& rule, const Scalar& value);

/// A leaf of the pattern, an array of values and rules. It accepts what any of its rules matches.
using LeafRules = std::vector<Rule>;

/// Some of the leaves of a field, a bit for each.
using LeafSet = std::uint64_t;
constexpr std::size_t leaves_max = 64;
[[nodiscard]] constexpr LeafSet leaf_bit(std::size_t leaf) { return LeafSet{1} << leaf; }

}  // namespace postrider::filter
