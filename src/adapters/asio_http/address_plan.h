// Selects the addresses of a host to try, and their order. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/net/address.h"

namespace postrider::asio_http {

constexpr std::size_t planned_addresses_max = 8;  // More attempts would only use up the deadline.

struct AddressPlan {
  /// The allowed addresses, IPv6 and IPv4 alternating. May be empty.
  std::vector<IpAddress> addresses;
  /// The first forbidden address and its rule: `127.0.0.1: loopback (127.0.0.0/8)`. May be empty.
  std::string refusal;
};

/// Leaves out forbidden addresses; they are never a fallback (P11).
[[nodiscard]] AddressPlan plan_addresses(const std::vector<IpAddress>& resolved,
                                         const AddressPolicy& policy);

}  // namespace postrider::asio_http
