// The table of addresses outside the public internet (P11): IANA's special-purpose registries, and
// cloud metadata services with public-looking addresses.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/net/address.h"

namespace postrider {
namespace {

struct Range {
  Cidr cidr;
  std::string_view name;
};

constexpr Cidr v4(std::array<std::uint8_t, 4> bytes, std::uint8_t prefix_length) {
  Cidr cidr{.network = {}, .prefix_length = prefix_length};
  std::ranges::copy(bytes, cidr.network.bytes.begin());
  return cidr;
}

// Groups that are not given are zero.
constexpr Cidr v6(std::array<std::uint16_t, 8> groups, std::uint8_t prefix_length) {
  Cidr cidr{.network = {.is_v6 = true}, .prefix_length = prefix_length};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    cidr.network.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    cidr.network.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
  }
  return cidr;
}

// Not the address of one host. No policy allows these.
constexpr Range never[] = {
    {v4({0, 0, 0, 0}, 32), "unspecified"},
    {v4({224, 0, 0, 0}, 4), "multicast"},
    {v4({255, 255, 255, 255}, 32), "broadcast"},
    {v6({0}, 128), "unspecified"},
    {v6({0xff00}, 8), "multicast"},
};

// The first match gives the reason, so narrower ranges come first.
constexpr Range not_public[] = {
    {v4({0, 0, 0, 0}, 8), "this network"},
    {v4({10, 0, 0, 0}, 8), "private"},
    {v4({100, 64, 0, 0}, 10), "carrier-grade NAT"},
    {v4({127, 0, 0, 0}, 8), "loopback"},
    {v4({168, 63, 129, 16}, 32), "Azure platform service"},
    {v4({169, 254, 0, 0}, 16), "link-local, cloud metadata"},
    {v4({172, 16, 0, 0}, 12), "private"},
    {v4({192, 0, 0, 0}, 24), "IETF protocol assignments"},
    {v4({192, 0, 2, 0}, 24), "documentation"},
    {v4({192, 31, 196, 0}, 24), "AS112"},
    {v4({192, 52, 193, 0}, 24), "automatic multicast tunnelling"},
    {v4({192, 88, 99, 0}, 24), "6to4 relay"},
    {v4({192, 168, 0, 0}, 16), "private"},
    {v4({192, 175, 48, 0}, 24), "AS112"},
    {v4({198, 18, 0, 0}, 15), "benchmarking"},
    {v4({198, 51, 100, 0}, 24), "documentation"},
    {v4({203, 0, 113, 0}, 24), "documentation"},
    {v4({240, 0, 0, 0}, 4), "reserved"},

    {v6({0, 0, 0, 0, 0, 0, 0, 1}, 128), "loopback"},
    {v6({0}, 96), "IPv4-compatible"},
    {v6({0, 0, 0, 0, 0xffff, 0}, 96), "IPv4-translated"},
    {v6({0x64, 0xff9b}, 96), "NAT64"},
    {v6({0x64, 0xff9b, 1}, 48), "NAT64"},
    {v6({0x100}, 64), "discard"},
    {v6({0x5f00}, 16), "segment routing"},
    {v6({0xfc00}, 7), "unique local"},
    {v6({0xfe80}, 10), "link-local"},
    {v6({0xfec0}, 10), "site-local"},
    {v6({0x2001, 0}, 32), "Teredo"},
    {v6({0x2001}, 23), "IETF protocol assignments"},
    {v6({0x2001, 0xdb8}, 32), "documentation"},
    {v6({0x2002}, 16), "6to4"},
    {v6({0x2620, 0x4f, 0x8000}, 48), "AS112"},
    {v6({0x3fff}, 20), "documentation"},
};

// Contains the whole public IPv6 internet. Addresses outside of it are unassigned or special.
constexpr Cidr global_unicast = v6({0x2000}, 3);

std::optional<std::string> first_match(std::span<const Range> ranges, const IpAddress& address) {
  const auto match = std::ranges::find_if(
      ranges, [&address](const Range& range) { return range.cidr.contains(address); });
  if (match == ranges.end()) {
    return std::nullopt;
  }
  return fmt::format("{} ({})", match->name, match->cidr.to_string());
}

const Cidr* find_containing(const std::vector<Cidr>& cidrs, const IpAddress& address) {
  const auto match =
      std::ranges::find_if(cidrs, [&address](const Cidr& cidr) { return cidr.contains(address); });
  return match == cidrs.end() ? nullptr : &*match;
}

// The IPv4 address embedded in an RFC 6052 address: it follows the prefix and skips byte 8. Returns
// nullopt if the RFC does not define the prefix length or byte 8 is not zero.
std::optional<IpAddress> embedded_v4(const IpAddress& address, std::uint8_t prefix_length) {
  constexpr std::array<std::uint8_t, 6> lengths = {32, 40, 48, 56, 64, 96};
  constexpr std::size_t reserved_byte = 8;
  if (std::ranges::find(lengths, prefix_length) == lengths.end()) {
    return std::nullopt;
  }
  if (prefix_length < 96 && address.bytes[reserved_byte] != 0) {
    return std::nullopt;
  }
  IpAddress embedded;
  std::size_t from = prefix_length / 8u;
  for (std::size_t to = 0; to < 4; ++to) {
    if (from == reserved_byte) {
      ++from;
    }
    embedded.bytes[to] = address.bytes[from++];
  }
  return embedded;
}

std::optional<std::string> why_not_public(const IpAddress& address) {
  if (std::optional<std::string> reason = first_match(not_public, address)) {
    return reason;
  }
  if (address.is_v6 && !global_unicast.contains(address)) {
    return fmt::format("outside global unicast ({})", global_unicast.to_string());
  }
  return std::nullopt;
}

// `address` must be unwrapped: not an IPv4 address inside an IPv6 one.
std::optional<std::string> forbidden_plain(const IpAddress& address, const AddressPolicy& policy) {
  if (std::optional<std::string> reason = first_match(never, address)) {
    return reason;
  }
  if (const Cidr* denied = find_containing(policy.denied, address)) {
    return fmt::format("denied by the operator ({})", denied->to_string());
  }
  if (policy.allow_private || find_containing(policy.allowed, address) != nullptr) {
    return std::nullopt;
  }
  return why_not_public(address);
}

bool is_loopback(const IpAddress& address) {
  return v4({127, 0, 0, 0}, 8).contains(address) ||
         v6({0, 0, 0, 0, 0, 0, 0, 1}, 128).contains(address);
}

}  // namespace

std::optional<std::string> forbidden_address(const IpAddress& address,
                                             const AddressPolicy& policy) {
  std::optional<IpAddress> wrapped = address.unmapped();
  if (const Cidr* nat64 = find_containing(policy.nat64, address)) {
    wrapped = embedded_v4(address, nat64->prefix_length);
    if (!wrapped) {
      return fmt::format("malformed NAT64 ({})", nat64->to_string());
    }
  }
  if (!wrapped) {
    return forbidden_plain(address, policy);
  }
  // The operator may also have denied the IPv6 form.
  if (const Cidr* denied = find_containing(policy.denied, address)) {
    return fmt::format("denied by the operator ({})", denied->to_string());
  }
  return forbidden_plain(*wrapped, policy);
}

bool is_own_listener(const AddressPolicy& policy, const Endpoint& target,
                     const std::optional<IpAddress>& local) {
  if (!policy.own || policy.own->port != target.port) {
    return false;
  }
  const IpAddress address = target.address.unmapped().value_or(target.address);
  const bool listens_on_all = policy.own->address.bytes == std::array<std::uint8_t, 16>{};
  if (!listens_on_all) {
    return address == policy.own->address;
  }
  // Unspecified addresses are always forbidden. A connection to this machine has the same address
  // at both ends.
  return is_loopback(address) || (local && local->unmapped().value_or(*local) == address);
}

}  // namespace postrider
