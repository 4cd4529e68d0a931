// The keywords that contain schemas, and those that are checked together with them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "adapters/json_schema/schema_builder.h"
#include "adapters/json_schema/schema_keywords.h"

namespace postrider::json_schema {
namespace {

/// An object keyword's value. Null if absent.
Result<const JsonNode*> object_of(const SchemaBuilder& builder, Site site,
                                  std::string_view keyword) {
  const JsonNode* value = find_member(site.object, keyword);
  if (value != nullptr && value->kind != JsonKind::object) {
    return builder.refuse(site.place, keyword, "must be an object.");
  }
  return value;
}

/// An array of different strings.
Result<std::vector<std::string_view>> read_names(const SchemaBuilder& builder, Site site,
                                                 std::string_view keyword, const JsonNode& value) {
  std::vector<std::string_view> names;
  for (const JsonNode& element : JsonChildren{value}) {
    if (value.kind != JsonKind::array || element.kind != JsonKind::string) {
      return builder.refuse(site.place, keyword, "must be an array of different strings.");
    }
    names.push_back(element.text);
  }
  std::vector<std::string_view> sorted = names;
  std::ranges::sort(sorted);
  if (value.kind != JsonKind::array || std::ranges::adjacent_find(sorted) != sorted.end()) {
    return builder.refuse(site.place, keyword, "must be an array of different strings.");
  }
  return names;
}

/// Reads the keywords that mention properties by name. All names are collected first, so that the
/// rules can refer to them by their position.
class NamedRules {
 public:
  NamedRules(SchemaBuilder& builder, Site site, ObjectRules& rules)
      : builder_(builder), site_(site), rules_(rules) {}

  Result<void> read() {
    POSTRIDER_TRY(properties_, object_of(builder_, site_, "properties"));
    POSTRIDER_TRY(dependencies_, object_of(builder_, site_, "dependencies"));
    if (const JsonNode* required = find_member(site_.object, "required")) {
      POSTRIDER_TRY(required_, read_names(builder_, site_, "required", *required));
    }
    collect_names();
    POSTRIDER_CHECK(read_properties());
    for (const std::string_view name : required_) {
      rules_.required.push_back(position_of(name));
    }
    return read_dependencies();
  }

 private:
  void collect_names() {
    std::vector<std::string_view> names = required_;
    for (const JsonNode* object : {properties_, dependencies_}) {
      if (object == nullptr) {
        continue;
      }
      for (const JsonNode& member : JsonChildren{*object}) {
        names.push_back(member.key);
        add_strings(names, member);
      }
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string_view name : names) {
      rules_.names.push_back({std::string{name}, nullptr});
    }
  }

  static void add_strings(std::vector<std::string_view>& names, const JsonNode& dependency) {
    if (dependency.kind != JsonKind::array) {
      return;
    }
    for (const JsonNode& element : JsonChildren{dependency}) {
      if (element.kind == JsonKind::string) {
        names.push_back(element.text);
      }
    }
  }

  [[nodiscard]] std::size_t position_of(std::string_view name) const {
    const auto found = std::ranges::lower_bound(rules_.names, name, {}, &ObjectRules::Name::text);
    return static_cast<std::size_t>(found - rules_.names.begin());
  }

  Result<void> read_properties() {
    if (properties_ == nullptr) {
      return {};
    }
    for (const JsonNode& member : JsonChildren{*properties_}) {
      const std::uint32_t place =
          builder_.places().add(site_.place, "properties", std::string{member.key});
      POSTRIDER_TRY(rules_.names[position_of(member.key)].property, builder_.read(member, place));
    }
    return {};
  }

  Result<void> read_dependencies() {
    if (dependencies_ == nullptr) {
      return {};
    }
    for (const JsonNode& member : JsonChildren{*dependencies_}) {
      ObjectRules::Dependency dependency{.name = position_of(member.key)};
      if (member.kind == JsonKind::array) {
        POSTRIDER_TRY(const auto names, read_names(builder_, site_, "dependencies", member));
        for (const std::string_view name : names) {
          dependency.required.push_back(position_of(name));
        }
      } else {
        const std::uint32_t place =
            builder_.places().add(site_.place, "dependencies", std::string{member.key});
        POSTRIDER_TRY(dependency.schema, builder_.read(member, place));
      }
      rules_.dependencies.push_back(std::move(dependency));
    }
    return {};
  }

  SchemaBuilder& builder_;
  Site site_;
  ObjectRules& rules_;
  const JsonNode* properties_ = nullptr;
  const JsonNode* dependencies_ = nullptr;
  std::vector<std::string_view> required_;
};

Result<void> read_pattern_properties(SchemaBuilder& builder, Site site, ObjectRules& rules) {
  POSTRIDER_TRY(const JsonNode* patterns, object_of(builder, site, "patternProperties"));
  if (patterns == nullptr) {
    return {};
  }
  for (const JsonNode& member : JsonChildren{*patterns}) {
    const std::uint32_t place =
        builder.places().add(site.place, "patternProperties", std::string{member.key});
    POSTRIDER_TRY(const Regex* regex, builder.regex_of(member.key, place, ""));
    POSTRIDER_TRY(const Schema* schema, builder.read(member, place));
    rules.patterns.push_back({regex, schema});
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ObjectRules>> read_object_rules(SchemaBuilder& builder, Site site) {
  auto rules = std::make_unique<ObjectRules>();
  POSTRIDER_TRY(rules->members,
                read_counts(builder, site, {.min = "minProperties", .max = "maxProperties"}));
  POSTRIDER_CHECK(NamedRules(builder, site, *rules).read());
  POSTRIDER_CHECK(read_pattern_properties(builder, site, *rules));
  POSTRIDER_TRY(rules->additional, builder.schema_of(site, "additionalProperties"));
  POSTRIDER_TRY(rules->property_names, builder.schema_of(site, "propertyNames"));
  const bool has_any = rules->members.min > 0 || rules->members.max < UINT64_MAX ||
                       !rules->names.empty() || !rules->patterns.empty() ||
                       rules->additional != nullptr || rules->property_names != nullptr;
  return has_any ? std::move(rules) : nullptr;
}

Result<std::unique_ptr<ArrayRules>> read_array_rules(SchemaBuilder& builder, Site site) {
  auto rules = std::make_unique<ArrayRules>();
  POSTRIDER_TRY(rules->elements,
                read_counts(builder, site, {.min = "minItems", .max = "maxItems"}));
  if (const JsonNode* unique = find_member(site.object, "uniqueItems")) {
    if (unique->kind != JsonKind::boolean) {
      return builder.refuse(site.place, "uniqueItems", "must be true or false.");
    }
    rules->unique = unique->truth;
  }
  POSTRIDER_TRY(const Schema* additional, builder.schema_of(site, "additionalItems"));
  POSTRIDER_TRY(rules->contains, builder.schema_of(site, "contains"));
  const JsonNode* items = find_member(site.object, "items");
  if (items != nullptr && items->kind == JsonKind::array) {
    POSTRIDER_TRY(rules->first, builder.schemas_of(site, "items"));
    rules->others = additional;
  } else {
    POSTRIDER_TRY(rules->others, builder.schema_of(site, "items"));
  }
  const bool has_any = rules->elements.min > 0 || rules->elements.max < UINT64_MAX ||
                       rules->unique || rules->contains != nullptr || !rules->first.empty() ||
                       rules->others != nullptr;
  return has_any ? std::move(rules) : nullptr;
}

Result<std::unique_ptr<Combination>> read_combination(SchemaBuilder& builder, Site site) {
  auto rules = std::make_unique<Combination>();
  POSTRIDER_TRY(rules->all_of, builder.schemas_of(site, "allOf"));
  POSTRIDER_TRY(rules->any_of, builder.schemas_of(site, "anyOf"));
  POSTRIDER_TRY(rules->one_of, builder.schemas_of(site, "oneOf"));
  POSTRIDER_TRY(rules->negated, builder.schema_of(site, "not"));
  POSTRIDER_TRY(rules->condition, builder.schema_of(site, "if"));
  POSTRIDER_TRY(rules->consequence, builder.schema_of(site, "then"));
  POSTRIDER_TRY(rules->alternative, builder.schema_of(site, "else"));
  const bool has_any = !rules->all_of.empty() || !rules->any_of.empty() || !rules->one_of.empty() ||
                       rules->negated != nullptr || rules->condition != nullptr;
  return has_any ? std::move(rules) : nullptr;
}

}  // namespace postrider::json_schema
