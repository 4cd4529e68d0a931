// What a filter's pattern becomes, so that one walk over an event decides it. Used by filter only.
//
// All parts of the pattern that look at the same object of the event, whichever branch of an `$or`
// they are in, are gathered in one Level. What they find out are facts, numbered through the plan;
// conditions say which facts are needed. A Level may be asked about several objects, the elements
// of an array: its conditions must hold within one of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/filter/filter_rules.h"

namespace postrider::filter {

using Fact = std::size_t;

/// All of these facts, and of each choice at least one alternative.
struct Condition {
  std::vector<Fact> facts;
  std::vector<std::vector<Condition>> choices;
};

/// The rules for one value: any of them may match.
struct Leaf {
  std::vector<Rule> rules;
  Fact fact = 0;
};

struct Field {
  std::string key;
  std::vector<Leaf> leaves;
  std::size_t level = 0;  // For an object in this field; 0, the event itself: none is looked at.
};

/// A condition on an object, and the fact it becomes for what is around the object.
struct Root {
  Condition condition;
  Fact fact = 0;
};

struct Level {
  std::vector<Field> fields;
  std::vector<Root> roots;
};

struct Plan {
  std::vector<Level> levels;  // The first is the event, with one root.
  std::vector<char> absent;   // The facts of an event without any of the fields.
};

[[nodiscard]] bool holds(const Condition& condition, const std::vector<char>& facts);

}  // namespace postrider::filter
