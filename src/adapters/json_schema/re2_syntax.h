// Translates regular expressions from the syntax of JSON Schema (ECMA-262) to that of RE2.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace postrider::json_schema {

/// Rewrites what RE2 spells differently: `\u00e9`, `\cA`, `(?<name>a)`, `[^]`, `[\b]`, `\s`.
/// Refuses what RE2 cannot express, such as look-ahead and back-references; the message is the end
/// of a sentence that begins with the pattern. Other errors are left to RE2.
[[nodiscard]] Result<std::string> to_re2_syntax(std::string_view pattern);

}  // namespace postrider::json_schema
