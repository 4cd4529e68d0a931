// The keywords `pattern` and `format`, implemented here instead of by valijson. Its implementation
// backtracks, which takes exponential time for some patterns and a stack frame per character for
// most, and it matches bytes instead of code points.
//
// schema_guard.h renames a schema's `pattern` and `format` before valijson reads the schema, so
// that valijson uses these rules.
#pragma once

#include <string_view>

#include <valijson/schema_parser.hpp>

#include "core/base/result.h"

namespace postrider::json_schema {

constexpr std::string_view pattern_keyword = "x-postrider-pattern";
constexpr std::string_view format_keyword = "x-postrider-format";

/// Accepts an ECMAScript regular expression without back references that is not too large.
[[nodiscard]] Result<void> check_pattern(std::string_view pattern);

/// The same for `patternProperties`, whose patterns valijson matches itself. Rejects patterns that
/// could take long there.
[[nodiscard]] Result<void> check_simple_pattern(std::string_view pattern);

void add_text_rules(valijson::SchemaParser& parser);

}  // namespace postrider::json_schema
