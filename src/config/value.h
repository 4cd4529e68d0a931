// The value of a setting while it is still text or TOML.
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

/// `true or false`, `an integer` … for people.
[[nodiscard]] std::string_view name_of(Kind kind);

/// A variable's or a flag's text. Lists are separated by commas. nullopt: not of that kind.
[[nodiscard]] std::optional<Value> parse_value(Kind kind, std::string_view text);

/// As TOML spells it.
[[nodiscard]] std::string to_toml(const Value& value);

}  // namespace postrider::config
