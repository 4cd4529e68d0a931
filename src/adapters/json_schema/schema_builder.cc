#include "adapters/json_schema/schema_builder.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "adapters/json_schema/json_pointer.h"
#include "adapters/json_schema/schema_reader.h"

namespace postrider::json_schema {
namespace {

// Keywords of other drafts, and of draft 7 where ignoring them would surprise.
constexpr std::array<std::string_view, 12> unsupported_keywords = {
    "$anchor",          "$dynamicRef",     "$recursiveRef",         "dependentRequired",
    "dependentSchemas", "maxContains",     "minContains",           "prefixItems",
    "unevaluatedItems", "contentEncoding", "unevaluatedProperties", "contentMediaType"};

constexpr std::size_t shown_bytes_max = 100;

}  // namespace

tl::unexpected<Error> SchemaBuilder::refuse(std::uint32_t place, std::string_view keyword,
                                            std::string_view message) const {
  std::string pointer = places_.pointer(place);
  if (pointer.empty() || !keyword.empty()) {
    pointer += fmt::format("/{}", keyword);
  }
  return fail(Errc::invalid, fmt::format("{} {}", pointer, message));
}

Result<const Schema*> SchemaBuilder::read(const JsonNode& node, std::uint32_t place) {
  Schema& schema = set_.schemas.emplace_back();
  schema.place = place;
  by_node_.emplace(&node, &schema);
  if (node.kind == JsonKind::boolean) {
    schema.never = !node.truth;
    return &schema;
  }
  if (node.kind != JsonKind::object) {
    return refuse(place, "", "must be a schema: an object, true or false.");
  }
  POSTRIDER_CHECK(read_object(schema, {node, place}));
  return &schema;
}

Result<void> SchemaBuilder::read_object(Schema& schema, Site site) {
  for (const JsonNode& member : JsonChildren{site.object}) {
    if (std::ranges::find(unsupported_keywords, member.key) != unsupported_keywords.end()) {
      return refuse(site.place, member.key, "is not supported. Use JSON Schema draft 7.");
    }
  }
  POSTRIDER_CHECK(check_annotations(*this, site));
  POSTRIDER_TRY(schema.types, read_types(*this, site));
  POSTRIDER_TRY(schema.values, read_values(*this, site));
  POSTRIDER_TRY(schema.number, read_number_rules(*this, site));
  POSTRIDER_TRY(schema.string, read_string_rules(*this, site));
  POSTRIDER_TRY(schema.array, read_array_rules(*this, site));
  POSTRIDER_TRY(schema.object, read_object_rules(*this, site));
  POSTRIDER_TRY(schema.combination, read_combination(*this, site));
  POSTRIDER_CHECK(read_definitions(site));
  return read_reference(schema, site);
}

Result<void> SchemaBuilder::read_definitions(Site site) {
  for (const std::string_view keyword : {"definitions", "$defs"}) {
    const JsonNode* value = find_member(site.object, keyword);
    if (value == nullptr) {
      continue;
    }
    if (value->kind != JsonKind::object) {
      return refuse(site.place, keyword, "must be an object.");
    }
    for (const JsonNode& member : JsonChildren{*value}) {
      POSTRIDER_CHECK(read(member, places_.add(site.place, keyword, std::string{member.key})));
    }
  }
  return {};
}

Result<void> SchemaBuilder::read_reference(Schema& schema, Site site) {
  const JsonNode* value = find_member(site.object, "$ref");
  if (value == nullptr) {
    return {};
  }
  const bool is_pointer =
      value->kind == JsonKind::string && (value->text == "#" || value->text.starts_with("#/"));
  if (!is_pointer) {
    return refuse(site.place, "$ref",
                  "must refer to a part of the schema itself, such as #/definitions/address. "
                  "External references are not supported.");
  }
  references_.push_back({&schema, value->text});
  return {};
}

Result<void> SchemaBuilder::resolve_references(const JsonNode& root) {
  for (const Reference& reference : references_) {
    const JsonNode* node = follow_pointer(root, reference.target.substr(1));
    const auto found = by_node_.find(node);
    if (found == by_node_.end()) {
      return refuse(reference.from->place, "$ref",
                    fmt::format("refers to {}, which is not a schema.",
                                clip(reference.target, shown_bytes_max)));
    }
    reference.from->target = found->second;
  }
  return {};
}

Result<const Schema*> SchemaBuilder::schema_of(Site site, std::string_view keyword) {
  const JsonNode* value = find_member(site.object, keyword);
  if (value == nullptr) {
    return nullptr;
  }
  return read(*value, places_.add(site.place, keyword));
}

Result<std::vector<const Schema*>> SchemaBuilder::schemas_of(Site site, std::string_view keyword) {
  std::vector<const Schema*> schemas;
  const JsonNode* value = find_member(site.object, keyword);
  if (value == nullptr) {
    return schemas;
  }
  if (value->kind != JsonKind::array || value->count == 0) {
    return refuse(site.place, keyword, "must be an array of at least one schema.");
  }
  for (const JsonNode& element : JsonChildren{*value}) {
    const std::uint32_t place = places_.add(site.place, keyword, std::to_string(schemas.size()));
    POSTRIDER_TRY(const Schema* schema, read(element, place));
    schemas.push_back(schema);
  }
  return schemas;
}

Result<const Regex*> SchemaBuilder::regex_of(std::string_view pattern, std::uint32_t place,
                                             std::string_view keyword) {
  if (const auto known = regexes_.find(pattern); known != regexes_.end()) {
    return known->second;
  }
  if (regexes_.size() == regexes_max) {
    return refuse(place, keyword,
                  fmt::format("is one pattern too many. A schema may have {}.", regexes_max));
  }
  Result<std::unique_ptr<const Regex>> regex = Regex::compile(pattern);
  if (!regex) {
    return refuse(place, keyword, regex.error().message);
  }
  regex_size_sum_ += (*regex)->size();
  if (regex_size_sum_ > regex_size_sum_max) {
    return refuse(place, keyword,
                  fmt::format("is too complex. All patterns of a schema together may have {} "
                              "instructions of RE2; a single one may have {}.",
                              regex_size_sum_max, regex_size_max));
  }
  set_.regexes.push_back(*std::move(regex));
  return regexes_.emplace(pattern, set_.regexes.back().get()).first->second;
}

}  // namespace postrider::json_schema
