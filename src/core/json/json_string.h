// Strings inside JSON text: finding their end, and decoding them. Used by json_text only.
#pragma once

#include <string>
#include <string_view>

namespace postrider {

/// What a look at one string found.
struct JsonStringScan {
  std::size_t length = 0;   // Of the content, quotes not counted. On an error: where it is.
  bool has_escape = false;  // Else the content is the decoded text already.
  std::string_view error;   // Empty: the string is valid.
};

/// `text` starts behind the opening quote and goes on to the end of everything. Valid means RFC
/// 8259: escapes known, surrogates in pairs, UTF-8 well formed, control characters escaped, a
/// closing quote.
[[nodiscard]] JsonStringScan scan_json_string(std::string_view text);

/// The text that a valid content stands for.
[[nodiscard]] std::string decode_json_content(std::string_view content);

}  // namespace postrider
