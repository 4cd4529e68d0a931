// Which network addresses a webhook may point at (P11). One table, one function; asked when a webhook
// is created and again, on the resolved address, at every connect.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postrider {

/// An IPv4 or IPv6 address in network byte order. IPv4 uses the first four bytes.
struct IpAddress {
  bool is_v6 = false;
  std::array<std::uint8_t, 16> bytes{};

  /// Canonical dotted quad (no octal, hex, short or padded forms) or RFC 4291 text without brackets
  /// and zone. nullopt for anything else.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;

  bool operator==(const IpAddress&) const = default;
};

struct Cidr {
  IpAddress network;
  std::uint8_t prefix_length = 0;

  [[nodiscard]] static std::optional<Cidr> parse(std::string_view text);
  [[nodiscard]] bool contains(const IpAddress& address) const;

  bool operator==(const Cidr&) const = default;
};

/// What the operator allowed beyond the public internet.
struct AddressPolicy {
  bool allow_private = false;  // --allow-private-targets: everything but multicast and unspecified.
  std::vector<Cidr> allowed;   // Allowed although not public.
  std::vector<Cidr> denied;    // Denied although public; wins over `allowed`.
  std::vector<Cidr> nat64;     // Prefixes whose addresses embed an IPv4 one (RFC 6052).
};

/// nullopt: the address may be connected to. Otherwise the rule that forbids it, for people, such as
/// `loopback (127.0.0.0/8)`.
[[nodiscard]] std::optional<std::string> forbidden_address(const IpAddress& address,
                                                           const AddressPolicy& policy);

}  // namespace postrider
