// Which e-mail addresses are accepted. They are written into the headers of messages, so an address
// must not be able to end a header or to add a second recipient.
#pragma once

#include <cstddef>
#include <string_view>

namespace postrider {

constexpr std::size_t email_address_bytes_max = 254;  // RFC 5321, of a path without its brackets.

/// True for `local@domain`: visible ASCII characters with one `@`, without quotes, brackets,
/// commas, semicolons and backslashes. The domain is letters, digits, hyphens and single dots.
[[nodiscard]] bool is_email_address(std::string_view text);

/// The rule, to complete `must be …`.
constexpr std::string_view email_address_rule =
    "an e-mail address such as ops@example.com, without display name, quotes and spaces";

}  // namespace postrider
