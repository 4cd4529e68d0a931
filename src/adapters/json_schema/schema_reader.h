// Compiles a JSON Schema. Refuses what the meta-schema of draft 7 refuses, what this validator does
// not support, and schemas whose check could take unlimited time.
#pragma once

#include "core/base/result.h"

#include "adapters/json_schema/json_tree.h"
#include "adapters/json_schema/schema.h"

namespace postrider::json_schema {

constexpr std::size_t regexes_max = 500;              // In one schema, not counting repetitions.
constexpr std::uint64_t regex_size_sum_max = 20'000;  // The instructions of all of them.

/// The error message starts with a JSON pointer: `/properties/a/minLength must be …`
[[nodiscard]] Result<SchemaSet> read_schema(const JsonNode& root);

}  // namespace postrider::json_schema
