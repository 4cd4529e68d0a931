// Determines the client's address behind proxies. X-Forwarded-For is used only as far as trusted
// proxies wrote it. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/net/address.h"

namespace postrider::api {

/// True if `address` is in one of the ranges. IPv4-mapped IPv6 addresses are treated as IPv4.
[[nodiscard]] bool is_in(const std::vector<Cidr>& ranges, const IpAddress& address);

/// The client behind `peer`. If `peer` is trusted, the X-Forwarded-For entries are read from last
/// to first, and the first entry that is not a trusted proxy is the client. An entry that is not an
/// address ends the search, because no trusted proxy vouches for the entries before it.
[[nodiscard]] std::string client_address(
    std::string_view peer, const std::vector<std::pair<std::string, std::string>>& headers,
    const std::vector<Cidr>& trusted);

/// The key under which a client's connections are counted: an IPv4 address, or an IPv6 /64 network,
/// because one subscriber usually controls a whole /64.
[[nodiscard]] std::string client_group(std::string_view address);

}  // namespace postrider::api
