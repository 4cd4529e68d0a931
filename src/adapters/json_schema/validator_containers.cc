// The rules for arrays and objects.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "adapters/json_schema/canonical_json.h"
#include "adapters/json_schema/places.h"
#include "adapters/json_schema/steps.h"
#include "adapters/json_schema/validator.h"

namespace postrider::json_schema {
namespace {

constexpr std::size_t name_shown_bytes_max = 100;
constexpr std::size_t no_limit = std::size_t{1} << 40;

}  // namespace

bool Validator::check_array(const ArrayRules& rules, const JsonNode& value) {
  bool fine = true;
  if (value.count < rules.elements.min) {
    fine = fault("must have at least {} elements, but has {}.", rules.elements.min, value.count);
  }
  if (value.count > rules.elements.max) {
    fine = fault("must have at most {} elements, but has {}.", rules.elements.max, value.count);
  }
  if (fine || records()) {
    fine = check_elements(rules, value) && fine;
  }
  if (rules.contains != nullptr && (fine || records())) {
    fine = check_contains(*rules.contains, value) && fine;
  }
  return (!rules.unique || (!fine && !records()) || check_unique(value)) && fine;
}

bool Validator::check_elements(const ArrayRules& rules, const JsonNode& value) {
  if (rules.first.empty() && rules.others == nullptr) {
    return true;
  }
  bool fine = true;
  std::size_t index = 0;
  for (const JsonNode& element : JsonChildren{value}) {
    const Schema* schema = index < rules.first.size() ? rules.first[index] : rules.others;
    if (schema == nullptr) {
      break;
    }
    fine = check_at(*schema, element, {.key = {}, .index = index, .is_index = true}) && fine;
    if (!fine && !records()) {
      return false;
    }
    ++index;
  }
  return fine;
}

bool Validator::check_contains(const Schema& schema, const JsonNode& value) {
  for (const JsonNode& element : JsonChildren{value}) {
    if (satisfies(schema, element)) {
      return true;
    }
  }
  return fault("must contain an element that satisfies the schema in `contains`.");
}

bool Validator::check_unique(const JsonNode& value) {
  std::vector<std::string> texts;
  texts.reserve(value.count);
  std::size_t bytes = 0;
  for (const JsonNode& element : JsonChildren{value}) {
    (void)append_canonical(texts.emplace_back(), element, no_limit, budget_);
    bytes += texts.back().size();
  }
  // Sorting compares each text about as often as the number of texts has bits.
  spend(budget_, (texts.size() + bytes / bytes_per_step) * std::bit_width(texts.size()));
  std::ranges::sort(texts);
  if (std::ranges::adjacent_find(texts) == texts.end()) {
    return true;
  }
  return fault("must not have equal elements.");
}

bool Validator::check_object(const ObjectRules& rules, const JsonNode& value) {
  bool fine = true;
  if (value.count < rules.members.min) {
    fine = fault("must have at least {} properties, but has {}.", rules.members.min, value.count);
  }
  if (value.count > rules.members.max) {
    fine = fault("must have at most {} properties, but has {}.", rules.members.max, value.count);
  }
  spend(budget_, 2 + rules.names.size() / bytes_per_step);
  std::vector<bool> present(rules.names.size());
  for (const JsonNode& member : JsonChildren{value}) {
    spend(budget_, 2 + std::bit_width(rules.names.size()) + member.key.size() / bytes_per_step);
    const auto found =
        std::ranges::lower_bound(rules.names, member.key, {}, &ObjectRules::Name::text);
    const bool is_known = found != rules.names.end() && found->text == member.key;
    if (is_known) {
      present[static_cast<std::size_t>(found - rules.names.begin())] = true;
    }
    fine = check_member(rules, member, is_known ? &*found : nullptr) && fine;
    if (!fine && !records()) {
      return false;
    }
  }
  return check_names(rules, value, present) && fine;
}

bool Validator::check_member(const ObjectRules& rules, const JsonNode& member,
                             const ObjectRules::Name* name) {
  const Step step{.key = member.key};
  bool fine = true;
  bool is_evaluated = false;
  if (name != nullptr && name->property != nullptr) {
    is_evaluated = true;
    fine = check_at(*name->property, member, step);
  }
  for (const ObjectRules::PatternProperty& pattern : rules.patterns) {
    if (matches(*pattern.regex, member.key)) {
      is_evaluated = true;
      fine = check_at(*pattern.schema, member, step) && fine;
    }
  }
  if (!is_evaluated && rules.additional != nullptr) {
    fine = check_at(*rules.additional, member, step) && fine;
  }
  if (rules.property_names != nullptr) {
    const JsonNode key{.kind = JsonKind::string, .text = member.key};
    if (!satisfies(*rules.property_names, key)) {
      fine = fault(
          "must not have the property `{}`: its name does not satisfy the "
          "schema in `propertyNames`.",
          clip(member.key, name_shown_bytes_max));
    }
  }
  return fine;
}

bool Validator::check_names(const ObjectRules& rules, const JsonNode& value,
                            const std::vector<bool>& present) {
  const auto name_of_property = [&](std::size_t name) {
    return clip(rules.names[name].text, name_shown_bytes_max);
  };
  spend(budget_, rules.required.size() / bytes_per_step);
  bool fine = true;
  for (const std::size_t name : rules.required) {
    if (!present[name] && !records()) {
      return false;
    }
    if (!present[name]) {
      fine = fault("must have the property `{}`.", name_of_property(name));
    }
  }
  for (const ObjectRules::Dependency& dependency : rules.dependencies) {
    spend(budget_, 1 + dependency.required.size() / bytes_per_step);
    if (!present[dependency.name]) {
      continue;
    }
    for (const std::size_t name : dependency.required) {
      if (!present[name]) {
        fine = fault("must have the property `{}`, because it has `{}`.", name_of_property(name),
                     name_of_property(dependency.name));
      }
    }
    if (dependency.schema != nullptr) {
      fine = check(*dependency.schema, value) && fine;
    }
  }
  return fine;
}

}  // namespace postrider::json_schema
