// The keyword `format`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace postrider::json_schema {

enum class Format : std::uint8_t { date_time, date, ipv4, ipv6, uuid };

/// Unknown formats are ignored, as the standard allows: returns nullopt.
[[nodiscard]] std::optional<Format> find_format(std::string_view name);
[[nodiscard]] std::string_view name_of(Format format);

/// The time does not depend on the length of the text.
[[nodiscard]] bool has_format(std::string_view text, Format format);

}  // namespace postrider::json_schema
