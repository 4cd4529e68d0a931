// Validates JSON Schema (docs/decisions/0030-own-schema-validator.md).
#pragma once

#include <string_view>

#include "ports/schema_check.h"

namespace postrider {

constexpr std::size_t schema_bytes_max = std::size_t{64} * 1024;

/// Draft 7, without external references. `format` supports date-time, date, ipv4, ipv6 and uuid.
/// Patterns are matched by RE2.
[[nodiscard]] Result<std::unique_ptr<const SchemaCheck>> make_schema_check(std::string_view schema);

}  // namespace postrider
