// The few rules of HTTP/1.1 syntax that reading a response needs (RFC 9110, RFC 9112). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace postrider::asio_http {

[[nodiscard]] bool is_token(std::string_view text);

/// Visible characters, space, tab, and bytes beyond ASCII; neither NUL nor a bare CR.
[[nodiscard]] bool is_field_text(std::string_view text);

[[nodiscard]] bool equals_ignoring_case(std::string_view text, std::string_view lower_case);

/// Without the spaces and tabs around it.
[[nodiscard]] std::string_view trim(std::string_view text);

/// Is the item in the comma-separated list?
[[nodiscard]] bool list_contains(std::string_view list, std::string_view lower_case_item);

/// Digits only: no sign, no blank, no list, and at most eighteen, which cannot overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_length(std::string_view text);

[[nodiscard]] std::optional<std::uint64_t> hex_value(char character);

}  // namespace postrider::asio_http
