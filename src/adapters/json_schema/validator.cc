#include "adapters/json_schema/validator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "adapters/json_schema/canonical_json.h"
#include "adapters/json_schema/places.h"
#include "adapters/json_schema/steps.h"

namespace postrider::json_schema {
namespace {

constexpr std::size_t key_shown_bytes_max = 100;
constexpr std::size_t number_shown_bytes_max = 40;

Type type_of(const JsonNode& value) {
  switch (value.kind) {
    case JsonKind::null:
      return Type::null;
    case JsonKind::boolean:
      return Type::boolean;
    case JsonKind::number:
      return Type::number;
    case JsonKind::string:
      return Type::string;
    case JsonKind::array:
      return Type::array;
    case JsonKind::object:
      return Type::object;
  }
  return Type::null;
}

std::string_view describe(Type type) {
  switch (type) {
    case Type::null:
      return "null";
    case Type::boolean:
      return "true or false";
    case Type::object:
      return "an object";
    case Type::array:
      return "an array";
    case Type::number:
      return "a number";
    case Type::string:
      return "a string";
    case Type::integer:
      return "a whole number";
  }
  return "";
}

std::string describe_all(TypeSet types) {
  std::string text;
  for (const Type type : {Type::null, Type::boolean, Type::object, Type::array, Type::number,
                          Type::string, Type::integer}) {
    if ((types & bit_of(type)) != 0) {
      text += fmt::format("{}{}", text.empty() ? "" : " or ", describe(type));
    }
  }
  return text;
}

std::uint64_t count_code_points(std::string_view utf8) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      utf8, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80; }));
}

}  // namespace

std::vector<SchemaFault> Validator::validate(const Schema& schema, const JsonNode& document) {
  try {
    (void)check(schema, document);
  } catch (const EnoughFaults&) {
    return std::move(faults_);  // The rest is not checked.
  }
  return std::move(faults_);
}

void Validator::record(std::string message) {
  faults_.push_back({path(), std::move(message)});
  if (faults_.size() == faults_max) {
    throw EnoughFaults{};
  }
}

std::string Validator::path() const {
  std::string path;
  for (const Step& step : path_) {
    path += step.is_index
                ? fmt::format("[{}]", step.index)
                : fmt::format("{}{}", path.empty() ? "" : ".", clip(step.key, key_shown_bytes_max));
  }
  return path;
}

bool Validator::check(const Schema& schema, const JsonNode& value) {
  spend(budget_, 2);
  if (schema.target != nullptr) {
    return check(*schema.target, value);
  }
  if (schema.never) {
    return fault("is not allowed by the schema.");
  }
  if (!check_type(schema, value)) {
    return false;  // The other faults would follow from this one.
  }
  bool fine = true;
  const auto note = [&](bool satisfied) {
    fine = fine && satisfied;
    return fine || records();  // Whether to check the other rules.
  };
  for (const ValueRules& rules : schema.values) {
    if (!note(check_values(rules, value))) {
      return false;
    }
  }
  if ((schema.number && value.kind == JsonKind::number &&
       !note(check_number(*schema.number, value))) ||
      (schema.string && value.kind == JsonKind::string &&
       !note(check_string(*schema.string, value))) ||
      (schema.array && value.kind == JsonKind::array && !note(check_array(*schema.array, value))) ||
      (schema.object && value.kind == JsonKind::object &&
       !note(check_object(*schema.object, value))) ||
      (schema.combination && !note(check_combination(*schema.combination, value)))) {
    return false;
  }
  return fine;
}

bool Validator::check_at(const Schema& schema, const JsonNode& value, Step step) {
  path_.push_back(step);
  const bool fine = check(schema, value);
  path_.pop_back();
  return fine;
}

bool Validator::satisfies(const Schema& schema, const JsonNode& value) {
  ++quiet_;
  const bool fine = check(schema, value);
  --quiet_;
  return fine;
}

bool Validator::check_type(const Schema& schema, const JsonNode& value) {
  const Type type = type_of(value);
  if (schema.types == 0 || (schema.types & bit_of(type)) != 0) {
    return true;
  }
  if (type == Type::number && (schema.types & bit_of(Type::integer)) != 0) {
    spend(budget_, value.text.size() / 2);
    if (is_whole_json_number(value.text)) {
      return true;
    }
  }
  if (!records()) {
    return false;
  }
  return fault("must be {}, but is {}.", describe_all(schema.types),
               type == Type::boolean ? "a boolean" : describe(type));
}

bool Validator::check_values(const ValueRules& rules, const JsonNode& value) {
  std::string canonical;
  const bool is_short = append_canonical(canonical, value, rules.bytes_max, budget_);
  spend(budget_, 1 + canonical.size() / bytes_per_step);
  if (is_short && std::ranges::binary_search(rules.values, canonical)) {
    return true;
  }
  return fault("must be {}{}.", rules.values.size() == 1 ? "" : "one of: ", rules.shown);
}

bool Validator::check_number(const NumberRules& rules, const JsonNode& value) {
  spend(budget_, 5 + value.text.size() + rules.bytes);
  const std::string_view number = value.text;
  const auto shown = [](const std::string& limit) { return clip(limit, number_shown_bytes_max); };
  bool fine = true;
  if (rules.minimum && compare_json_numbers(number, *rules.minimum) < 0) {
    fine = fault("must be at least {}.", shown(*rules.minimum));
  }
  if (rules.maximum && compare_json_numbers(number, *rules.maximum) > 0) {
    fine = fault("must be at most {}.", shown(*rules.maximum));
  }
  if (rules.exclusive_minimum && compare_json_numbers(number, *rules.exclusive_minimum) <= 0) {
    fine = fault("must be greater than {}.", shown(*rules.exclusive_minimum));
  }
  if (rules.exclusive_maximum && compare_json_numbers(number, *rules.exclusive_maximum) >= 0) {
    fine = fault("must be less than {}.", shown(*rules.exclusive_maximum));
  }
  if (rules.divisor && !rules.divisor->divides(number)) {
    fine = fault("must be a multiple of {}.", shown(*rules.multiple_of));
  }
  return fine;
}

bool Validator::check_string(const StringRules& rules, const JsonNode& value) {
  bool fine = true;
  const Counts& limits = rules.code_points;
  if (limits.min > 0 || limits.max < UINT64_MAX) {
    spend(budget_, 1 + value.text.size() / bytes_per_step);
    const std::uint64_t length = count_code_points(value.text);
    if (length < limits.min) {
      fine = fault("must have at least {} characters, but has {}.", limits.min, length);
    }
    if (length > limits.max) {
      fine = fault("must have at most {} characters, but has {}.", limits.max, length);
    }
  }
  if (rules.regex != nullptr && (fine || records()) && !matches(*rules.regex, value.text)) {
    fine = fault("must match the pattern `{}`.", rules.pattern);
  }
  if (rules.format && !has_format(value.text, *rules.format)) {
    spend(budget_, 10);
    fine = fault("must be a {}.", name_of(*rules.format));
  }
  return fine;
}

bool Validator::matches(const Regex& regex, std::string_view text) {
  if (regex.search_steps_max(text) > budget_.left()) {
    throw OutOfSteps{};
  }
  const Regex::Search search = regex.search(text);
  spend(budget_, search.steps);
  return search.found;
}

bool Validator::check_combination(const Combination& rules, const JsonNode& value) {
  bool fine = true;
  for (const Schema* schema : rules.all_of) {
    fine = check(*schema, value) && fine;
    if (!fine && !records()) {
      return false;
    }
  }
  fine = check_alternatives(rules, value) && fine;
  if (rules.negated != nullptr && (fine || records()) && satisfies(*rules.negated, value)) {
    fine = fault("must not satisfy the schema in `not`.");
  }
  if (rules.condition != nullptr && (fine || records())) {
    const Schema* next = satisfies(*rules.condition, value) ? rules.consequence : rules.alternative;
    fine = (next == nullptr || check(*next, value)) && fine;
  }
  return fine;
}

bool Validator::check_alternatives(const Combination& rules, const JsonNode& value) {
  const auto satisfied = [&](const Schema* schema) { return satisfies(*schema, value); };
  if (rules.any_of.size() == 1 && !check(*rules.any_of.front(), value)) {
    return false;  // The faults say more than that of `anyOf` would.
  }
  if (rules.any_of.size() > 1 && std::ranges::none_of(rules.any_of, satisfied)) {
    return fault("must satisfy at least one of the {} schemas in `anyOf`.", rules.any_of.size());
  }
  std::size_t count = 0;
  for (auto schema = rules.one_of.begin(); schema != rules.one_of.end() && count < 2; ++schema) {
    count += satisfied(*schema) ? 1 : 0;
  }
  if (rules.one_of.empty() || count == 1) {
    return true;
  }
  return fault("must satisfy exactly one of the {} schemas in `oneOf`, but satisfies {}.",
               rules.one_of.size(), count == 0 ? "none" : "several");
}

}  // namespace postrider::json_schema
