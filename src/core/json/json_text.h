// Strict JSON without a tree: validates text as required by RFC 8259 and returns the members of the
// outermost object as slices of the original bytes, so that an event's data is kept verbatim.
// Numbers are checked only for syntax: a 400-digit number is valid, because nothing computes with
// it. Why not a library: docs/decisions/0002-own-json-scanner.md.
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

/// Accepts exactly one JSON value with no duplicate keys in any object (compared decoded), valid
/// UTF-8 and surrogate pairs, no unescaped control characters, no byte order mark, nothing after
/// the value, and at most json_depth_max levels of arrays and objects. Fails with invalid; the
/// message names the error and its byte offset.
[[nodiscard]] Result<void> check_json(std::string_view text);

/// The same, but the text must be an object. Returns its members in order.
[[nodiscard]] Result<std::vector<JsonMember>> read_json_object(std::string_view text);

/// The same, but the object itself does not count as a level: its members may be json_depth_max
/// deep.
[[nodiscard]] Result<std::vector<JsonMember>> read_json_envelope(std::string_view text);

/// The same as check_json, but the text must be an array. Returns its elements in order.
[[nodiscard]] Result<std::vector<std::string_view>> read_json_array(std::string_view text);

/// Decodes a raw JSON string with its quotes. Returns nullopt if `raw` is not a valid string.
[[nodiscard]] std::optional<std::string> decode_json_string(std::string_view raw);

}  // namespace postrider
