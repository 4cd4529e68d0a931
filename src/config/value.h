// The value of a setting as read from a file, variable or flag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace postrider::config {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

/// The alternatives are in the order of Kind.
using Value = std::variant<bool, std::int64_t, double, std::string, Texts, Integers>;

enum class Kind : std::uint8_t { boolean, integer, number, text, texts, integers };

[[nodiscard]] inline Kind kind_of(const Value& value) { return static_cast<Kind>(value.index()); }

/// Parses the text of a variable or flag. List items are separated by commas. Returns nullopt if
/// the text is not of that kind.
[[nodiscard]] std::optional<Value> parse_value(Kind kind, std::string_view text);

/// Formats a value as TOML.
[[nodiscard]] std::string to_toml(const Value& value);

}  // namespace postrider::config
