// Writes JSON text as another program would write it after parsing it, so that a receiver that
// parses and serialises a body before it verifies the signature gets the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postrider {

enum class JsonWriterStyle : std::uint8_t {
  /// `JSON.stringify(JSON.parse(text))` in JavaScript: no white space; keys that are array indexes
  /// first, in ascending order, the others in their order.
  javascript,
  /// `json.dumps(json.loads(text), sort_keys=True)` in Python: `, ` and `: ` as separators, keys in
  /// the order of their code points, other characters than ASCII escaped.
  python,
};

/// `checked` must have passed check_json (json_text.h). The result is valid JSON, and rewriting it
/// again changes nothing. It differs from what the program writes in one case: see
/// append_python_number.
[[nodiscard]] std::string rewrite_json(std::string_view checked, JsonWriterStyle style);

}  // namespace postrider
