// Whose request it is when proxies stand between: X-Forwarded-For is believed only as far as
// trusted proxies wrote it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/net/address.h"

namespace postrider::api {

/// An address inside one of the ranges; IPv4 addresses in IPv6 clothes are looked at as IPv4.
[[nodiscard]] bool is_in(const std::vector<Cidr>& ranges, const IpAddress& address);

/// The client behind `peer`. When `peer` is trusted, the X-Forwarded-For entries are read from the
/// last to the first, past every trusted proxy; the first other one is the client. An entry that is
/// no address ends the search: what is behind it was written by nobody we know.
[[nodiscard]] std::string client_address(
    std::string_view peer, const std::vector<std::pair<std::string, std::string>>& headers,
    const std::vector<Cidr>& trusted);

/// What is counted as one client: an IPv4 address, or an IPv6 network of 64 bits, of which a single
/// household has all addresses.
[[nodiscard]] std::string client_group(std::string_view address);

}  // namespace postrider::api
