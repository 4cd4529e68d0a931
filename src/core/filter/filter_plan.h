// The compiled form of a filter's pattern, which is evaluated in a single scan of an event. Used by
// filter only.
//
// A Level collects all parts of the pattern that apply to the same object of the event, in
// whichever branch of an `$or` they are. Each part sets a fact, a numbered boolean. Conditions
// combine facts. A Level may be evaluated for several objects, the elements of an array; its
// condition must hold for one of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/filter/scalar_index.h"

namespace postrider::filter {

using Fact = std::size_t;

/// Holds if all facts are true and each choice has at least one alternative that holds.
struct Condition {
  std::vector<Fact> facts;
  std::vector<std::vector<Condition>> choices;
};

struct Field {
  std::string key;
  std::vector<Fact> leaves;  // True if the leaf accepts a value of the field.
  ScalarIndex index;         // Of the leaves, in this order.
  std::size_t level = 0;     // The level of an object in this field. 0: the pattern has none.
};

/// A condition on an object, and the fact in which its result is stored for the enclosing level.
struct Root {
  Condition condition;
  Fact fact = 0;
};

struct Level {
  std::vector<Field> fields;
  std::vector<Root> roots;
  std::vector<Fact> facts;  // Of the fields and of the roots of their levels.
};

struct Plan {
  std::vector<Level> levels;  // The first is the event itself and has one root.
  std::vector<char> absent;   // The facts of an event that has none of the fields.
  std::size_t weight = 1;     // See Filter::weight.
};

[[nodiscard]] bool holds(const Condition& condition, const std::vector<char>& facts);

}  // namespace postrider::filter
