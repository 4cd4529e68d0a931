// What the leaves of a field say about numbers. The numbers of all rules divide the number line.
// For each number and for each gap between two of them, the index knows the leaves that accept it,
// so that a number in an event takes one binary search. Used by filter only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/decimal.h"
#include "core/filter/filter_rules.h"

namespace postrider::filter {

/// An immutable value. Any thread.
class NumberIndex {
 public:
  NumberIndex() = default;
  explicit NumberIndex(const std::vector<LeafRules>& leaves);

  /// The leaves that accept the number.
  [[nodiscard]] LeafSet find(std::string_view number) const;

 private:
  // A place on the number line: 2i + 1 is point i, and 2i is the gap before it.
  using Place = std::size_t;

  struct Point {
    std::string number;  // As written.
    JsonNumberKey key;
  };

  void add_points(const Rule& rule);
  void sort_points();
  [[nodiscard]] Place place_of(std::string_view number) const;
  [[nodiscard]] std::vector<char> accepted_places(const Rule& rule) const;
  void accept(const Test& test, std::vector<char>& accepted) const;
  void accept_range(const NumberRange& range, std::vector<char>& accepted) const;

  std::vector<Point> points_;    // In order, without duplicates.
  std::vector<LeafSet> leaves_;  // By place.
};

}  // namespace postrider::filter
