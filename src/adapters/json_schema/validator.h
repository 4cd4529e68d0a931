// Checks a JSON document with a compiled schema.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ports/schema_check.h"

#include "adapters/json_schema/json_tree.h"
#include "adapters/json_schema/schema.h"

namespace postrider::json_schema {

/// For one document. Its functions return false if the value does not satisfy the rules, and throw
/// OutOfSteps if the budget does not suffice.
///
/// The recursion is limited: schema_reader.h limits the schemas for one value, json_depth_max the
/// levels of values.
class Validator {
 public:
  /// Finds at most this many faults, to keep the response small.
  static constexpr std::size_t faults_max = 10;

  explicit Validator(StepBudget& budget) : budget_(budget) {}

  [[nodiscard]] std::vector<SchemaFault> validate(const Schema& schema, const JsonNode& document);

 private:
  struct Step {
    std::string_view key;   // Of an object.
    std::size_t index = 0;  // Of an array.
    bool is_index = false;
  };
  struct EnoughFaults {};

  [[nodiscard]] bool check(const Schema& schema, const JsonNode& value);
  [[nodiscard]] bool check_at(const Schema& schema, const JsonNode& value, Step step);
  /// The same without recording faults.
  [[nodiscard]] bool satisfies(const Schema& schema, const JsonNode& value);

  [[nodiscard]] bool check_type(const Schema& schema, const JsonNode& value);
  [[nodiscard]] bool check_values(const ValueRules& rules, const JsonNode& value);
  [[nodiscard]] bool check_number(const NumberRules& rules, const JsonNode& value);
  [[nodiscard]] bool check_string(const StringRules& rules, const JsonNode& value);
  [[nodiscard]] bool check_array(const ArrayRules& rules, const JsonNode& value);
  [[nodiscard]] bool check_elements(const ArrayRules& rules, const JsonNode& value);
  [[nodiscard]] bool check_contains(const Schema& schema, const JsonNode& value);
  [[nodiscard]] bool check_unique(const JsonNode& value);
  [[nodiscard]] bool check_object(const ObjectRules& rules, const JsonNode& value);
  [[nodiscard]] bool check_member(const ObjectRules& rules, const JsonNode& member,
                                  const ObjectRules::Name* name);
  [[nodiscard]] bool check_names(const ObjectRules& rules, const JsonNode& value,
                                 const std::vector<bool>& present);
  [[nodiscard]] bool check_combination(const Combination& rules, const JsonNode& value);
  [[nodiscard]] bool check_alternatives(const Combination& rules, const JsonNode& value);

  [[nodiscard]] bool matches(const Regex& regex, std::string_view text);

  /// True while faults are recorded: then all rules are checked, not only up to the first fault.
  [[nodiscard]] bool records() const { return quiet_ == 0; }
  /// Records a fault at the current path, unless nothing is recorded. Returns false.
  template <class... Arguments>
  bool fault(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (records()) {
      record(fmt::format(text, std::forward<Arguments>(arguments)...));
    }
    return false;
  }
  void record(std::string message);
  [[nodiscard]] std::string path() const;

  StepBudget& budget_;
  std::vector<SchemaFault> faults_;
  std::vector<Step> path_;
  std::size_t quiet_ = 0;
};

}  // namespace postrider::json_schema
