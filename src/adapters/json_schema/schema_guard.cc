#include "adapters/json_schema/schema_guard.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "adapters/json_schema/text_rules.h"

namespace postrider::json_schema {
namespace {

namespace json = boost::json;

/// The most nested schemas that may apply to one value. valijson recurses for each of them.
constexpr int chain_max = 16;

// What a keyword contains.
enum class Holds { schema, schemas, named_schemas };

struct Keyword {
  std::string_view name;
  Holds holds;
  bool same_value;  // Its schemas apply to the same value as the enclosing schema.
};

constexpr std::array<Keyword, 17> keywords = {{
    {"allOf", Holds::schemas, true},
    {"anyOf", Holds::schemas, true},
    {"oneOf", Holds::schemas, true},
    {"not", Holds::schema, true},
    {"if", Holds::schema, true},
    {"then", Holds::schema, true},
    {"else", Holds::schema, true},
    {"dependencies", Holds::named_schemas, true},
    {"properties", Holds::named_schemas, false},
    {"patternProperties", Holds::named_schemas, false},
    {"additionalProperties", Holds::schema, false},
    {"items", Holds::schemas, false},
    {"additionalItems", Holds::schema, false},
    {"contains", Holds::schema, false},
    {"propertyNames", Holds::schema, false},
    {"definitions", Holds::named_schemas, false},
    {"$defs", Holds::named_schemas, false},
}};

// Keywords that valijson would silently ignore.
constexpr std::array<std::string_view, 12> unknown_keywords = {
    "$anchor",          "$dynamicRef",     "$recursiveRef",         "dependentRequired",
    "dependentSchemas", "maxContains",     "minContains",           "prefixItems",
    "unevaluatedItems", "contentEncoding", "unevaluatedProperties", "contentMediaType"};

/// Calls `visit(schema, pointer)` for each schema in the keyword's value until one fails.
template <class Value, class Visit>
Result<void> each_schema(const Keyword& keyword, Value& value, const std::string& pointer,
                         Visit visit) {
  if (keyword.holds == Holds::named_schemas && value.is_object()) {
    for (auto& member : value.get_object()) {
      if (member.value().is_array()) {
        continue;  // A dependency that lists property names.
      }
      POSTRIDER_CHECK(
          visit(member.value(), fmt::format("{}/{}", pointer, std::string_view{member.key()})));
    }
    return {};
  }
  if (keyword.holds == Holds::schemas && value.is_array()) {
    for (std::size_t index = 0; index < value.get_array().size(); ++index) {
      POSTRIDER_CHECK(visit(value.get_array()[index], fmt::format("{}/{}", pointer, index)));
    }
    return {};
  }
  return visit(value, pointer);
}

template <class Object, class Visit>
Result<void> each_subschema(Object& object, const std::string& pointer, Visit visit) {
  for (const Keyword& keyword : keywords) {
    if (auto* value = object.if_contains(keyword.name)) {
      const auto pass_on = [&](auto& schema, const std::string& place) {
        return visit(keyword, schema, place);
      };
      POSTRIDER_CHECK(
          each_schema(keyword, *value, fmt::format("{}/{}", pointer, keyword.name), pass_on));
    }
  }
  return {};
}

tl::unexpected<Error> refuse(const std::string& pointer, std::string_view message) {
  return fail(Errc::invalid, fmt::format("{} {}", pointer.empty() ? "/" : pointer, message));
}

// The two passes below recurse as deep as the schema's JSON, at most json_depth_max.

/// The first pass: checks each schema by itself, renames and removes keywords.
class Cleaner {
 public:
  Result<void> clean(json::value& schema, const std::string& pointer) {
    if (schema.is_bool()) {
      return {};
    }
    json::object* object = schema.if_object();
    if (object == nullptr) {
      return refuse(pointer, "must be a schema: an object, true or false.");
    }
    for (const std::string_view name : unknown_keywords) {
      if (object->contains(name)) {
        return refuse(fmt::format("{}/{}", pointer, name),
                      "is not supported. Use JSON Schema draft 7.");
      }
    }
    // Only references within the schema are allowed, so its identifier is not needed.
    for (const std::string_view name : {"id", "$id", "$schema"}) {
      object->erase(name);
    }
    POSTRIDER_CHECK(rename(*object, pointer, "pattern", pattern_keyword));
    POSTRIDER_CHECK(rename(*object, pointer, "format", format_keyword));
    POSTRIDER_CHECK(check_pattern_properties(*object, pointer));
    return each_subschema(*object, pointer,
                          [this](const Keyword&, json::value& inner, const std::string& place) {
                            return clean(inner, place);
                          });
  }

  [[nodiscard]] bool matches_keys() const { return matches_keys_; }

 private:
  static Result<void> rename(json::object& object, const std::string& pointer,
                             std::string_view from, std::string_view to) {
    object.erase(to);
    const json::value* value = object.if_contains(from);
    if (value == nullptr) {
      return {};
    }
    const std::string place = fmt::format("{}/{}", pointer, from);
    const json::string* text = value->if_string();
    if (text == nullptr) {
      return refuse(place, "must be a string.");
    }
    if (to == pattern_keyword) {
      if (const Result<void> fine = check_pattern(*text); !fine) {
        return refuse(place, fine.error().message);
      }
    }
    json::value moved = *value;
    object.erase(from);
    object.emplace(to, std::move(moved));
    return {};
  }

  Result<void> check_pattern_properties(const json::object& object, const std::string& pointer) {
    const json::value* value = object.if_contains("patternProperties");
    if (value == nullptr || !value->is_object()) {
      return {};
    }
    matches_keys_ = true;
    for (const auto& member : value->get_object()) {
      const std::string_view pattern = member.key();
      if (const Result<void> fine = check_simple_pattern(pattern); !fine) {
        return refuse(fmt::format("{}/patternProperties/{}", pointer, pattern),
                      fine.error().message);
      }
    }
    return {};
  }

  bool matches_keys_ = false;
};

/// The second pass: checks the targets of references.
class References {
 public:
  explicit References(const json::value& root) : root_(root) {}

  Result<void> check() {
    POSTRIDER_CHECK(collect(root_, {}));
    for (const json::value* schema : in_order_) {
      POSTRIDER_CHECK(measure(*schema));
    }
    return {};
  }

 private:
  struct Place {
    std::string pointer;
    int chain = 0;  // The longest chain of schemas for the same value. 0: not computed yet.
    bool in_progress = false;
  };

  Result<void> collect(const json::value& schema, const std::string& pointer) {
    schemas_.emplace(&schema, Place{.pointer = pointer});
    in_order_.push_back(&schema);
    const json::object* object = schema.if_object();
    if (object == nullptr) {
      return {};
    }
    return each_subschema(*object, pointer,
                          [this](const Keyword&, const json::value& inner, const std::string& at) {
                            return collect(inner, at);
                          });
  }

  Result<const json::value*> target_of(const json::value& reference, const std::string& pointer) {
    const json::string* text = reference.if_string();
    const std::string_view target = text != nullptr ? std::string_view{*text} : "";
    const bool is_pointer = target == "#" || (target.starts_with("#/") && !target.ends_with('/'));
    if (!is_pointer || target.find('%') != std::string_view::npos) {
      return refuse(pointer + "/$ref",
                    "must refer to a part of the schema itself, such as #/definitions/address. "
                    "External references are not supported.");
    }
    json::error_code error;
    const json::value* found = root_.find_pointer(target.substr(1), error);
    if (found == nullptr || !schemas_.contains(found)) {
      return refuse(pointer + "/$ref", fmt::format("refers to {}, which is not a schema.", target));
    }
    return found;
  }

  /// Fails if the schemas for one value form a cycle or a chain longer than chain_max.
  Result<int> measure(const json::value& schema) {
    Place& place = schemas_.at(&schema);
    if (place.in_progress) {
      return refuse(place.pointer, "leads back to itself without descending into the data.");
    }
    const json::object* object = schema.if_object();
    if (place.chain > 0 || object == nullptr) {
      return std::max(place.chain, 1);
    }
    place.in_progress = true;
    int longest = 0;
    const auto follow = [&](const json::value& next) -> Result<void> {
      POSTRIDER_TRY(const int chain, measure(next));
      longest = std::max(longest, chain);
      return {};
    };
    if (const json::value* reference = object->if_contains("$ref")) {
      POSTRIDER_TRY(const json::value* target, target_of(*reference, place.pointer));
      POSTRIDER_CHECK(follow(*target));
    } else {
      POSTRIDER_CHECK(each_subschema(*object, {},
                                     [&](const Keyword& keyword, const json::value& inner,
                                         const std::string&) -> Result<void> {
                                       return keyword.same_value ? follow(inner) : Result<void>{};
                                     }));
    }
    place.in_progress = false;
    place.chain = longest + 1;
    if (place.chain > chain_max) {
      return refuse(place.pointer,
                    fmt::format("applies more than {} nested schemas to one value.", chain_max));
    }
    return place.chain;
  }

  const json::value& root_;
  std::map<const json::value*, Place> schemas_;
  std::vector<const json::value*> in_order_;  // As written, so that messages are deterministic.
};

}  // namespace

Result<GuardedSchema> guard_schema(boost::json::value schema) {
  Cleaner cleaner;
  POSTRIDER_CHECK(cleaner.clean(schema, {}));
  POSTRIDER_CHECK(References{schema}.check());
  return GuardedSchema{std::move(schema), cleaner.matches_keys()};
}

}  // namespace postrider::json_schema
