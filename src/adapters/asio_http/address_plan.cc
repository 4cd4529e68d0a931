#include "adapters/asio_http/address_plan.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace postrider::asio_http {

AddressPlan plan_addresses(const std::vector<IpAddress>& resolved, const AddressPolicy& policy) {
  AddressPlan plan;
  std::array<std::vector<IpAddress>, 2> by_family;  // IPv6 first (RFC 6724).
  for (const IpAddress& address : resolved) {
    const std::optional<std::string> rule = forbidden_address(address, policy);
    if (!rule) {
      by_family[address.is_v6 ? 0 : 1].push_back(address);
    } else if (plan.refusal.empty()) {
      plan.refusal = fmt::format("{}: {}", address.to_string(), *rule);
    }
  }

  const std::size_t rounds = std::max(by_family[0].size(), by_family[1].size());
  for (std::size_t turn = 0; turn < 2 * rounds; ++turn) {
    const std::vector<IpAddress>& family = by_family[turn % 2];
    if (turn / 2 < family.size() && plan.addresses.size() < planned_addresses_max) {
      plan.addresses.push_back(family[turn / 2]);
    }
  }
  return plan;
}

}  // namespace postrider::asio_http
