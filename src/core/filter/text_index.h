// What the leaves of a field say about strings. Plain values are found by a binary search. What
// several rules need of a string, such as its lower case, is computed once. Used by filter only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/wildcard_set.h"
#include "core/filter/filter_rules.h"

namespace postrider::filter {

/// An immutable value. Any thread.
class TextIndex {
 public:
  TextIndex() = default;
  explicit TextIndex(const std::vector<LeafRules>& leaves);

  /// The leaves that accept the text. Those in `known` may be missing.
  [[nodiscard]] LeafSet find(std::string_view text, LeafSet known) const;

  /// The tests that each string may take, besides the search for a plain value.
  [[nodiscard]] std::size_t test_count() const;
  /// The steps of all wildcards for each byte of a string.
  [[nodiscard]] std::size_t wildcard_steps() const { return wildcards_.words(); }

 private:
  struct Value {
    std::string text;
    LeafSet leaves = 0;
  };
  enum class Side { start, end, whole };
  struct Part {
    std::string text;  // Folded if the case is ignored.
    Side side = Side::whole;
    bool ignore_case = false;
  };
  /// A rule that is not decided by the list of values.
  struct TextRule {
    LeafSet leaf = 0;
    bool anything_but = false;
    std::uint64_t wildcards = 0;  // Places in wildcards_, as bits.
    std::vector<Part> parts;
    std::vector<Cidr> ranges;
  };
  class Inspection;

  void add_values(const std::vector<LeafRules>& leaves);
  void add_rule(const Rule& rule, LeafSet leaf, std::vector<Wildcard>& wildcards);
  [[nodiscard]] LeafSet find_value(std::string_view text) const;

  std::vector<Value> values_;  // In order, without duplicates.
  LeafSet other_ = 0;          // The leaves that accept a text without a value.
  std::vector<TextRule> rules_;
  WildcardSet wildcards_;
};

}  // namespace postrider::filter
