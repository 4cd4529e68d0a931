#include "adapters/json_schema/schema_reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "adapters/json_schema/schema_builder.h"

namespace postrider::json_schema {
namespace {

/// The most nested schemas that may apply to one value. The validator recurses for each of them, at
/// each level of the document.
constexpr int chain_max = 32;

/// The schemas that apply to the same value as `schema`.
std::vector<const Schema*> schemas_for_same_value(const Schema& schema) {
  if (schema.target != nullptr) {
    return {schema.target};
  }
  std::vector<const Schema*> schemas;
  if (schema.combination) {
    const Combination& rules = *schema.combination;
    for (const auto* some : {&rules.all_of, &rules.any_of, &rules.one_of}) {
      schemas.insert(schemas.end(), some->begin(), some->end());
    }
    for (const Schema* one :
         {rules.negated, rules.condition, rules.consequence, rules.alternative}) {
      schemas.push_back(one);
    }
  }
  if (schema.object) {
    for (const ObjectRules::Dependency& dependency : schema.object->dependencies) {
      schemas.push_back(dependency.schema);
    }
  }
  std::erase(schemas, nullptr);
  return schemas;
}

/// Finds schemas that apply to one value in a cycle, or in a chain longer than chain_max.
class Chains {
 public:
  explicit Chains(const SchemaBuilder& builder) : builder_(builder) {}

  /// The length of the longest chain that starts with `schema`. `before`: the schemas already in
  /// the chain; limits the recursion.
  Result<int> measure(const Schema& schema, int before) {
    Known& known = known_[&schema];
    if (known.in_progress) {
      return builder_.refuse(schema.place, "",
                             "leads back to itself without descending into the data.");
    }
    if (known.length == 0) {
      if (before == chain_max) {
        return too_long(schema);
      }
      known.in_progress = true;
      int longest = 0;
      for (const Schema* next : schemas_for_same_value(schema)) {
        POSTRIDER_TRY(const int length, measure(*next, before + 1));
        longest = std::max(longest, length);
      }
      known.in_progress = false;
      known.length = longest + 1;
    }
    if (before + known.length > chain_max) {
      return too_long(schema);
    }
    return known.length;
  }

 private:
  struct Known {
    int length = 0;  // 0: not measured yet.
    bool in_progress = false;
  };

  [[nodiscard]] tl::unexpected<Error> too_long(const Schema& schema) const {
    return builder_.refuse(
        schema.place, "",
        fmt::format("is part of a chain of more than {} nested schemas for one value.", chain_max));
  }

  const SchemaBuilder& builder_;
  std::unordered_map<const Schema*, Known> known_;  // References to its elements stay valid.
};

}  // namespace

Result<SchemaSet> read_schema(const JsonNode& root) {
  SchemaBuilder builder;
  POSTRIDER_CHECK(builder.read(root, 0));
  POSTRIDER_CHECK(builder.resolve_references(root));
  SchemaSet set = builder.take();
  Chains chains{builder};
  for (const Schema& schema : set.schemas) {
    POSTRIDER_CHECK(chains.measure(schema, 0));
  }
  return set;
}

}  // namespace postrider::json_schema
