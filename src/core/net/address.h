// Which network addresses a webhook may point at (P11). One table, one function; asked when a
// webhook is created and again, on the resolved address, at every connect.
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
  /// RFC 5952 for IPv6.
  [[nodiscard]] std::string to_string() const;

  /// The IPv4 address inside `::ffff:0:0/96`; nullopt for every other address.
  [[nodiscard]] std::optional<IpAddress> unmapped() const;

  bool operator==(const IpAddress&) const = default;
};

struct Cidr {
  IpAddress network;
  std::uint8_t prefix_length = 0;

  /// `10.0.0.0/8`, or an address alone for just that one. Bits beyond the prefix must be zero: a
  /// range that is not the one its author saw must not become a rule.
  [[nodiscard]] static std::optional<Cidr> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;

  /// Never true across families; forbidden_address unwraps IPv4 addresses inside IPv6 ones.
  [[nodiscard]] bool contains(const IpAddress& address) const;

  bool operator==(const Cidr&) const = default;
};

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;

  bool operator==(const Endpoint&) const = default;
};

/// What the operator allowed beyond the public internet.
struct AddressPolicy {
  bool allow_private = false;  // All but multicast, broadcast, unspecified and `denied`.
  // The initializers let GCC accept `{.allow_private = true}`. NOLINTBEGIN(*-redundant-member-init)
  std::vector<Cidr> allowed = {};    // Allowed although not public.
  std::vector<Cidr> denied = {};     // Denied although public; wins over everything else.
  std::vector<Cidr> nat64 = {};      // Prefixes whose addresses embed an IPv4 one (RFC 6052).
  std::optional<Endpoint> own = {};  // Where this server listens: no webhook may point at it.
  // NOLINTEND(*-redundant-member-init)
};

/// nullopt: the address may be connected to. Otherwise the rule that forbids it, for people, such
/// as `loopback (127.0.0.0/8)`.
[[nodiscard]] std::optional<std::string> forbidden_address(const IpAddress& address,
                                                           const AddressPolicy& policy);

/// Is that where this server itself listens? `local`: which of this machine's addresses a
/// connection to it came from, when there is one; it tells more of a server that listens on all.
[[nodiscard]] bool reaches_own(const AddressPolicy& policy, const Endpoint& target,
                               const std::optional<IpAddress>& local = std::nullopt);

/// The rule of reaches_own, for people.
constexpr std::string_view own_address_rule = "this server's own listener";

}  // namespace postrider
