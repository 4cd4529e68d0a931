// Keeps the addresses of internal networks from tenants: a name that a tenant chose may resolve to
// one, and the text about a failed attempt then contains it. The operator sees the full text.
#pragma once

#include <string>
#include <string_view>

namespace postrider {

/// Begins the text about an attempt that the address policy refused. The address and the rule
/// follow.
constexpr std::string_view blocked_address_text = "Requests to this address are not allowed";

/// Replaces addresses and ranges that are not public, and cuts off why an address was refused.
[[nodiscard]] std::string without_internal_addresses(std::string_view text);

/// Whether a tenant may see this address. False for text that is not an address.
[[nodiscard]] bool is_public_address(std::string_view text);

}  // namespace postrider
