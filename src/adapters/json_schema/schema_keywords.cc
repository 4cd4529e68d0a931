// The keywords that contain no schemas.
#include "adapters/json_schema/schema_keywords.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "adapters/json_schema/canonical_json.h"
#include "adapters/json_schema/schema_builder.h"

namespace postrider::json_schema {
namespace {

constexpr std::array<std::string_view, 7> type_names = {"null",   "boolean", "object", "array",
                                                        "number", "string",  "integer"};
constexpr std::size_t value_shown_bytes_max = 60;
constexpr std::size_t values_shown_bytes_max = 300;
// No canonical text is this long: the schema's own length is limited.
constexpr std::size_t no_limit = std::size_t{1} << 30;

struct Annotation {
  std::string_view keyword;
  JsonKind kind;
  std::string_view fault;
};
constexpr std::array<Annotation, 7> annotations = {{
    {"$schema", JsonKind::string, "must be a string."},
    {"$id", JsonKind::string, "must be a string."},
    {"$comment", JsonKind::string, "must be a string."},
    {"title", JsonKind::string, "must be a string."},
    {"description", JsonKind::string, "must be a string."},
    {"readOnly", JsonKind::boolean, "must be true or false."},
    {"examples", JsonKind::array, "must be an array."},
}};

Result<TypeSet> read_type(const SchemaBuilder& builder, Site site, const JsonNode& name) {
  const auto found =
      name.kind == JsonKind::string ? std::ranges::find(type_names, name.text) : type_names.end();
  if (found == type_names.end()) {
    return builder.refuse(
        site.place, "type",
        fmt::format("must be one of {}, or an array of different ones of them{}.",
                    fmt::join(type_names, ", "),
                    name.kind == JsonKind::string
                        ? fmt::format("; `{}` is not", clip(name.text, value_shown_bytes_max))
                        : ""));
  }
  return bit_of(static_cast<Type>(found - type_names.begin()));
}

Result<std::optional<std::string>> number_of(const SchemaBuilder& builder, Site site,
                                             std::string_view keyword) {
  const JsonNode* value = find_member(site.object, keyword);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->kind != JsonKind::number) {
    return builder.refuse(site.place, keyword, "must be a number.");
  }
  return std::string{value->text};
}

/// The value of a whole number that is not negative; the largest value if it is larger.
std::uint64_t to_count(std::string_view number) {
  std::string canonical;  // `12e3`, or `0`
  append_canonical_json_number(canonical, number);
  const std::size_t digits_end = std::min(canonical.find('e'), canonical.size());
  std::uint64_t count = 0;
  const char* end = canonical.data() + digits_end;
  if (std::from_chars(canonical.data(), end, count).ec != std::errc{}) {
    return UINT64_MAX;
  }
  std::int64_t zeros = 0;
  if (digits_end < canonical.size()) {
    std::from_chars(end + 1, canonical.data() + canonical.size(), zeros);
  }
  for (; zeros > 0; --zeros) {
    if (count > UINT64_MAX / 10) {
      return UINT64_MAX;
    }
    count *= 10;
  }
  return count;
}

Result<bool> read_count(const SchemaBuilder& builder, Site site, std::string_view keyword,
                        std::uint64_t& count) {
  const JsonNode* value = find_member(site.object, keyword);
  if (value == nullptr) {
    return false;
  }
  if (value->kind != JsonKind::number || !is_whole_json_number(value->text) ||
      compare_json_numbers(value->text, "0") < 0) {
    return builder.refuse(site.place, keyword, "must be a whole number that is not negative.");
  }
  count = to_count(value->text);
  return true;
}

std::string show(const JsonNode& value) {
  switch (value.kind) {
    case JsonKind::array:
      return "[…]";
    case JsonKind::object:
      return "{…}";
    case JsonKind::string:
      return fmt::format("\"{}\"", clip(value.text, value_shown_bytes_max));
    default:
      return clip(value.text, value_shown_bytes_max);
  }
}

void add_value(ValueRules& rules, const JsonNode& value) {
  StepBudget unlimited{UINT64_MAX};
  std::string& canonical = rules.values.emplace_back();
  (void)append_canonical(canonical, value, no_limit, unlimited);
  rules.bytes_max = std::max(rules.bytes_max, canonical.size());
  if (rules.shown.size() < values_shown_bytes_max) {
    rules.shown += (rules.shown.empty() ? "" : ", ") + show(value);
  } else if (!rules.shown.ends_with("…")) {
    rules.shown += ", …";
  }
}

}  // namespace

Result<Counts> read_counts(const SchemaBuilder& builder, Site site, CountKeywords keywords) {
  Counts counts;
  POSTRIDER_CHECK(read_count(builder, site, keywords.min, counts.min));
  POSTRIDER_CHECK(read_count(builder, site, keywords.max, counts.max));
  return counts;
}

Result<TypeSet> read_types(const SchemaBuilder& builder, Site site) {
  const JsonNode* value = find_member(site.object, "type");
  if (value == nullptr) {
    return TypeSet{0};
  }
  if (value->kind != JsonKind::array) {
    return read_type(builder, site, *value);
  }
  TypeSet types = 0;
  for (const JsonNode& name : JsonChildren{*value}) {
    POSTRIDER_TRY(const TypeSet type, read_type(builder, site, name));
    if ((types & type) != 0) {
      return builder.refuse(site.place, "type",
                            fmt::format("contains `{}` more than once.", name.text));
    }
    types = static_cast<TypeSet>(types | type);
  }
  if (types == 0) {
    return builder.refuse(site.place, "type", "must contain at least one type.");
  }
  return types;
}

Result<std::vector<ValueRules>> read_values(const SchemaBuilder& builder, Site site) {
  std::vector<ValueRules> rules;
  if (const JsonNode* value = find_member(site.object, "enum")) {
    if (value->kind != JsonKind::array) {
      return builder.refuse(site.place, "enum", "must be an array.");
    }
    ValueRules& values = rules.emplace_back();
    for (const JsonNode& element : JsonChildren{*value}) {
      add_value(values, element);
    }
    std::ranges::sort(values.values);
  }
  if (const JsonNode* value = find_member(site.object, "const")) {
    add_value(rules.emplace_back(), *value);
  }
  return rules;
}

Result<std::unique_ptr<NumberRules>> read_number_rules(SchemaBuilder& builder, Site site) {
  auto rules = std::make_unique<NumberRules>();
  POSTRIDER_TRY(rules->minimum, number_of(builder, site, "minimum"));
  POSTRIDER_TRY(rules->maximum, number_of(builder, site, "maximum"));
  POSTRIDER_TRY(rules->exclusive_minimum, number_of(builder, site, "exclusiveMinimum"));
  POSTRIDER_TRY(rules->exclusive_maximum, number_of(builder, site, "exclusiveMaximum"));
  POSTRIDER_TRY(rules->multiple_of, number_of(builder, site, "multipleOf"));
  if (rules->multiple_of) {
    rules->divisor = JsonDivisor::read(*rules->multiple_of);
    if (compare_json_numbers(*rules->multiple_of, "0") <= 0) {
      return builder.refuse(site.place, "multipleOf", "must be greater than 0.");
    }
    if (!rules->divisor) {
      return builder.refuse(site.place, "multipleOf",
                            fmt::format("must have at most {} digits besides leading and trailing "
                                        "zeros.",
                                        JsonDivisor::digits_max));
    }
  }
  for (const auto& number : {rules->minimum, rules->maximum, rules->exclusive_minimum,
                             rules->exclusive_maximum, rules->multiple_of}) {
    rules->bytes += number ? number->size() : 0;
  }
  return rules->bytes > 0 ? std::move(rules) : nullptr;
}

Result<std::unique_ptr<StringRules>> read_string_rules(SchemaBuilder& builder, Site site) {
  auto rules = std::make_unique<StringRules>();
  POSTRIDER_TRY(rules->code_points,
                read_counts(builder, site, {.min = "minLength", .max = "maxLength"}));
  for (const std::string_view keyword : {"pattern", "format"}) {
    const JsonNode* value = find_member(site.object, keyword);
    if (value != nullptr && value->kind != JsonKind::string) {
      return builder.refuse(site.place, keyword, "must be a string.");
    }
  }
  if (const JsonNode* value = find_member(site.object, "pattern")) {
    rules->pattern = value->text;
    POSTRIDER_TRY(rules->regex, builder.regex_of(value->text, site.place, "pattern"));
  }
  if (const JsonNode* value = find_member(site.object, "format")) {
    rules->format = find_format(value->text);
  }
  const bool has_any = rules->code_points.min > 0 || rules->code_points.max < UINT64_MAX ||
                       rules->regex != nullptr || rules->format;
  return has_any ? std::move(rules) : nullptr;
}

Result<void> check_annotations(const SchemaBuilder& builder, Site site) {
  for (const Annotation& annotation : annotations) {
    const JsonNode* value = find_member(site.object, annotation.keyword);
    if (value != nullptr && value->kind != annotation.kind) {
      return builder.refuse(site.place, annotation.keyword, annotation.fault);
    }
  }
  return {};
}

}  // namespace postrider::json_schema
