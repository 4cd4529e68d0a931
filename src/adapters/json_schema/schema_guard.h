// Makes a schema safe to hand to valijson: what would let a check run for ever, recurse without end
// or reach outside of the schema is refused, and what it would do badly is renamed (text_rules.h).
#pragma once

#include <boost/json/value.hpp>

#include "core/base/result.h"

namespace postrider::json_schema {

struct GuardedSchema {
  boost::json::value schema;
  bool matches_keys = false;  // It has patternProperties: valijson matches keys its own way.
};

/// Takes a schema of draft 7, as valijson 1.0 knows it. The message names the place as a JSON
/// pointer: `/properties/a/pattern must have at most 512 bytes.`
[[nodiscard]] Result<GuardedSchema> guard_schema(boost::json::value schema);

}  // namespace postrider::json_schema
