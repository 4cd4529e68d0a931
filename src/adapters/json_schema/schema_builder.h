// The state of compiling one schema; see schema_reader.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"

#include "adapters/json_schema/json_tree.h"
#include "adapters/json_schema/places.h"
#include "adapters/json_schema/schema.h"

namespace postrider::json_schema {

/// A schema that is being read: its JSON object and its place.
struct Site {
  const JsonNode& object;
  std::uint32_t place;
};

class SchemaBuilder {
 public:
  /// Reads the schema and everything in it. Recurses as deep as the JSON, at most json_depth_max.
  [[nodiscard]] Result<const Schema*> read(const JsonNode& node, std::uint32_t place);
  /// Call once, after the root was read.
  [[nodiscard]] Result<void> resolve_references(const JsonNode& root);

  /// `/properties/a/pattern must …`. Without a keyword, about the schema at `place`.
  [[nodiscard]] tl::unexpected<Error> refuse(std::uint32_t place, std::string_view keyword,
                                             std::string_view message) const;

  /// The schemas of a keyword. Null or empty if the keyword is absent.
  [[nodiscard]] Result<const Schema*> schema_of(Site site, std::string_view keyword);
  [[nodiscard]] Result<std::vector<const Schema*>> schemas_of(Site site, std::string_view keyword);

  /// Each different pattern is compiled once.
  [[nodiscard]] Result<const Regex*> regex_of(std::string_view pattern, std::uint32_t place,
                                              std::string_view keyword);

  [[nodiscard]] Places& places() { return places_; }
  [[nodiscard]] SchemaSet take() { return std::move(set_); }

 private:
  struct Reference {
    Schema* from;
    std::string_view target;
  };

  [[nodiscard]] Result<void> read_object(Schema& schema, Site site);
  [[nodiscard]] Result<void> read_reference(Schema& schema, Site site);
  [[nodiscard]] Result<void> read_definitions(Site site);

  SchemaSet set_;
  Places places_;
  std::unordered_map<const JsonNode*, const Schema*> by_node_;
  std::vector<Reference> references_;
  std::map<std::string, const Regex*, std::less<>> regexes_;
  std::uint64_t regex_size_sum_ = 0;
};

// The rules for one kind of value each. Null if the schema has none of them.
[[nodiscard]] Result<std::unique_ptr<NumberRules>> read_number_rules(SchemaBuilder& builder,
                                                                     Site site);
[[nodiscard]] Result<std::unique_ptr<StringRules>> read_string_rules(SchemaBuilder& builder,
                                                                     Site site);
[[nodiscard]] Result<std::unique_ptr<ArrayRules>> read_array_rules(SchemaBuilder& builder,
                                                                   Site site);
[[nodiscard]] Result<std::unique_ptr<ObjectRules>> read_object_rules(SchemaBuilder& builder,
                                                                     Site site);
[[nodiscard]] Result<std::unique_ptr<Combination>> read_combination(SchemaBuilder& builder,
                                                                    Site site);

[[nodiscard]] Result<TypeSet> read_types(const SchemaBuilder& builder, Site site);
/// `enum` and `const`.
[[nodiscard]] Result<std::vector<ValueRules>> read_values(const SchemaBuilder& builder, Site site);
/// Checks the keywords that have no effect here, such as `title`.
[[nodiscard]] Result<void> check_annotations(const SchemaBuilder& builder, Site site);

}  // namespace postrider::json_schema
