// Makes a schema safe for valijson. Rejects schemas that would loop, recurse without end or refer
// to anything outside of the schema. Renames the keywords that Postrider implements itself
// (text_rules.h).
#pragma once

#include <boost/json/value.hpp>

#include "core/base/result.h"

namespace postrider::json_schema {

struct GuardedSchema {
  boost::json::value schema;
  bool matches_keys = false;  // Has patternProperties, whose patterns valijson matches itself.
};

/// Accepts a draft 7 schema, as supported by valijson 1.0. The error message starts with a JSON
/// pointer: `/properties/a/pattern must have at most 512 bytes.`
[[nodiscard]] Result<GuardedSchema> guard_schema(boost::json::value schema);

}  // namespace postrider::json_schema
