// Which addresses of a name may be tried, and in which order. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/net/address.h"

namespace postrider::asio_http {

constexpr std::size_t planned_addresses_max = 8;  // Trying more would only eat up the deadline.

struct AddressPlan {
  std::vector<IpAddress> addresses;  // Allowed ones, IPv6 and IPv4 taking turns. May be empty.
  std::string refusal;               // When empty: `127.0.0.1: loopback (127.0.0.0/8)`.
};

/// Forbidden addresses are left out; there is no falling back to one (P11).
[[nodiscard]] AddressPlan plan_addresses(const std::vector<IpAddress>& resolved,
                                         const AddressPolicy& policy);

}  // namespace postrider::asio_http
