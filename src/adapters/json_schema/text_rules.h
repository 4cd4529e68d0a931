// `pattern` and `format`, done here instead of by valijson: its way backtracks, which takes
// exponential time for some patterns and a stack frame per character for most, and sees bytes where
// people see letters.
//
// A schema's `pattern` and `format` are renamed before valijson reads it (schema_guard.h), so that
// it builds these.
#pragma once

#include <string_view>

#include <valijson/schema_parser.hpp>

#include "core/base/result.h"

namespace postrider::json_schema {

constexpr std::string_view pattern_keyword = "x-postrider-pattern";
constexpr std::string_view format_keyword = "x-postrider-format";

/// Is this a regular expression we take: ECMAScript's without back references, not too large?
[[nodiscard]] Result<void> check_pattern(std::string_view pattern);

/// The same for `patternProperties`, whose patterns valijson matches itself: what could take long
/// there is refused.
[[nodiscard]] Result<void> check_simple_pattern(std::string_view pattern);

void add_text_rules(valijson::SchemaParser& parser);

}  // namespace postrider::json_schema
