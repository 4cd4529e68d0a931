// Finds the end of a string in JSON text; decodes and encodes strings.
#pragma once

#include <string>
#include <string_view>

namespace postrider {

/// The result of scanning one string.
struct JsonStringScan {
  std::size_t length = 0;   // Of the content without quotes. On an error: its offset.
  bool has_escape = false;  // If false, the content needs no decoding.
  std::string_view error;   // Empty: the string is valid.
};

/// `text` starts after the opening quote and extends to the end of the document. A string is valid
/// as in RFC 8259: known escapes, surrogates in pairs, well-formed UTF-8, escaped control
/// characters, a closing quote.
[[nodiscard]] JsonStringScan scan_json_string(std::string_view text);

/// Decodes the content of a valid string.
[[nodiscard]] std::string decode_json_content(std::string_view content);

/// Appends `text` as a JSON string with quotes. `text` must be valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace postrider
