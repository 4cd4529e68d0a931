// Strict JSON without a tree: validates a text as RFC 8259 asks and finds the members of the
// outermost object as slices of the original bytes, so that an event's data is kept verbatim.
// Numbers are checked as grammar only: a 400-digit number is fine, because nobody here computes
// with it. Why not a library: docs/decisions/0002-own-json-scanner.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace postrider {

constexpr std::size_t json_depth_max = 32;

struct JsonMember {
  std::string key;         // Decoded.
  std::string_view value;  // Raw, without surrounding white space.
};

/// Accepts one JSON value: no duplicate keys in any object (compared decoded), valid UTF-8 and
/// surrogate pairs, no unescaped control characters, no byte order mark, nothing after the value,
/// at most json_depth_max levels of arrays and objects. Errc::invalid says what is wrong and at
/// which byte.
[[nodiscard]] Result<void> check_json(std::string_view text);

/// The same, and the text must be an object: its members in order.
[[nodiscard]] Result<std::vector<JsonMember>> read_json_object(std::string_view text);

/// The same, and the object itself does not count as a level: its members may have json_depth_max.
[[nodiscard]] Result<std::vector<JsonMember>> read_json_envelope(std::string_view text);

/// The same, and the text must be an array: its elements in order.
[[nodiscard]] Result<std::vector<std::string_view>> read_json_array(std::string_view text);

/// Decodes a raw JSON string, quotes included. nullopt when the slice is no string.
[[nodiscard]] std::optional<std::string> decode_json_string(std::string_view raw);

}  // namespace postrider
