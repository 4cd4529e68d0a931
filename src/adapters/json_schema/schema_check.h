// Validates JSON Schema with valijson. No other module uses valijson; no exception leaves.
#pragma once

#include <string_view>

#include "ports/schema_check.h"

namespace postrider {

constexpr std::size_t schema_bytes_max = std::size_t{64} * 1024;

/// Draft 7, without external references. `format` supports date-time, date, ipv4, ipv6 and uuid.
[[nodiscard]] Result<std::unique_ptr<const SchemaCheck>> make_schema_check(std::string_view schema);

}  // namespace postrider
