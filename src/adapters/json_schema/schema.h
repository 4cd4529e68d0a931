// A compiled JSON Schema: plain structs that the validator walks. schema_reader.h makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/decimal.h"

#include "adapters/json_schema/formats.h"
#include "adapters/json_schema/regex.h"

namespace postrider::json_schema {

struct Schema;

enum class Type : std::uint8_t { null, boolean, object, array, number, string, integer };

/// A set of types as bits. Empty: every type.
using TypeSet = std::uint8_t;

[[nodiscard]] constexpr TypeSet bit_of(Type type) {
  return static_cast<TypeSet>(1U << static_cast<unsigned>(type));
}

/// `minLength` and similar. Absent limits have values that are always met.
struct Counts {
  std::uint64_t min = 0;
  std::uint64_t max = UINT64_MAX;
};

struct NumberRules {
  // As written in the schema.
  std::optional<std::string> minimum;
  std::optional<std::string> maximum;
  std::optional<std::string> exclusive_minimum;
  std::optional<std::string> exclusive_maximum;
  std::optional<std::string> multiple_of;
  std::optional<JsonDivisor> divisor;  // Of multiple_of.
  std::size_t bytes = 0;               // Of all of them.
};

struct StringRules {
  Counts code_points;
  const Regex* regex = nullptr;
  std::string pattern;
  std::optional<Format> format;
};

struct ArrayRules {
  Counts elements;
  bool unique = false;
  std::vector<const Schema*> first;  // `items` as an array: one schema for each element.
  const Schema* others = nullptr;    // For the other elements: `items` or `additionalItems`.
  const Schema* contains = nullptr;
};

struct ObjectRules {
  struct Name {
    std::string text;
    const Schema* property = nullptr;
  };
  struct PatternProperty {
    const Regex* regex;
    const Schema* schema;
  };
  /// Names are positions in `names`.
  struct Dependency {
    std::size_t name = 0;
    std::vector<std::size_t> required;
    const Schema* schema = nullptr;
  };

  Counts members;
  std::vector<Name> names;  // All that the rules mention, sorted.
  std::vector<std::size_t> required;
  std::vector<Dependency> dependencies;
  std::vector<PatternProperty> patterns;
  const Schema* additional = nullptr;
  const Schema* property_names = nullptr;
};

/// `enum` or `const`.
struct ValueRules {
  std::vector<std::string> values;  // Canonical, sorted.
  std::size_t bytes_max = 0;        // Of the longest.
  std::string shown;                // For messages.
};

/// Rules that apply other schemas to the same value.
struct Combination {
  std::vector<const Schema*> all_of;
  std::vector<const Schema*> any_of;
  std::vector<const Schema*> one_of;
  const Schema* negated = nullptr;
  const Schema* condition = nullptr;  // `if`
  const Schema* consequence = nullptr;
  const Schema* alternative = nullptr;
};

struct Schema {
  bool never = false;  // The schema `false`.
  TypeSet types = 0;
  std::uint32_t place = 0;         // In the schema's text; see Places.
  const Schema* target = nullptr;  // Of `$ref`. Draft 7 ignores all other rules then.
  std::unique_ptr<NumberRules> number;
  std::unique_ptr<StringRules> string;
  std::unique_ptr<ArrayRules> array;
  std::unique_ptr<ObjectRules> object;
  std::vector<ValueRules> values;
  std::unique_ptr<Combination> combination;
};

/// Owns all parts of a schema. The first schema is the root.
struct SchemaSet {
  std::deque<Schema> schemas;
  std::vector<std::unique_ptr<const Regex>> regexes;
};

}  // namespace postrider::json_schema
