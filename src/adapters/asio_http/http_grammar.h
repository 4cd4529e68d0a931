// The rules of HTTP/1.1 syntax that the response reader needs (RFC 9110, RFC 9112). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace postrider::asio_http {

[[nodiscard]] bool is_token(std::string_view text);

/// Visible characters, space, tab and non-ASCII bytes. No NUL, no bare CR.
[[nodiscard]] bool is_field_text(std::string_view text);

[[nodiscard]] bool equals_ignoring_case(std::string_view text, std::string_view lower_case);

/// True if the comma-separated list contains the item.
[[nodiscard]] bool list_contains(std::string_view list, std::string_view lower_case_item);

/// Only digits, at most eighteen, which cannot overflow. Returns nullopt for anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_length(std::string_view text);

[[nodiscard]] std::optional<std::uint64_t> hex_value(char character);

}  // namespace postrider::asio_http
