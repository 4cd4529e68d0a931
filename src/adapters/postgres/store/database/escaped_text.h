// Escapes what PostgreSQL rejects in a text: zero bytes and bytes that are not UTF-8. Nothing is
// lost. Pure.
//
// Such a byte, and the byte 0x01 itself, is stored as 0x01 and two hexadecimal digits. Few texts
// contain one, so most texts are stored unchanged.
#pragma once

#include <string>
#include <string_view>

namespace postrider::postgres {

/// Appends the stored form of `text`.
void append_escaped(std::string_view text, std::string& out);

[[nodiscard]] std::string escape_text(std::string_view text);

/// Reverses `append_escaped`. Bytes that it cannot have written are kept.
[[nodiscard]] std::string unescape_text(std::string_view stored);

/// Returns whether `stored` contains an escape.
[[nodiscard]] bool is_escaped(std::string_view stored);

}  // namespace postrider::postgres
