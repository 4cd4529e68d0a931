// IP addresses, and which of them a webhook may point to (P11). Checked when a webhook is created
// and again, for the resolved address, at every connect.
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

  /// Accepts a canonical dotted quad (no octal, hex, short or padded forms) or RFC 4291 text
  /// without brackets and zone. Returns nullopt for anything else.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text);
  /// RFC 5952 for IPv6.
  [[nodiscard]] std::string to_string() const;

  /// The IPv4 address inside `::ffff:0:0/96`. Returns nullopt for every other address.
  [[nodiscard]] std::optional<IpAddress> unmapped() const;

  bool operator==(const IpAddress&) const = default;
};

struct Cidr {
  IpAddress network;
  std::uint8_t prefix_length = 0;

  /// Accepts `10.0.0.0/8`, or a single address without a prefix length. Bits after the prefix must
  /// be zero, because otherwise the range is probably not what its author meant.
  [[nodiscard]] static std::optional<Cidr> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;

  /// False for the other address family. forbidden_address unwraps IPv4 inside IPv6.
  [[nodiscard]] bool contains(const IpAddress& address) const;

  bool operator==(const Cidr&) const = default;
};

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;

  bool operator==(const Endpoint&) const = default;
};

/// What the operator allows besides the public internet, and what the operator denies.
struct AddressPolicy {
  bool allow_private = false;  // Allows all but multicast, broadcast, unspecified and `denied`.
  // The initializers let GCC accept `{.allow_private = true}`. NOLINTBEGIN(*-redundant-member-init)
  std::vector<Cidr> allowed = {};    // Allowed although not public.
  std::vector<Cidr> denied = {};     // Denied although public. Takes precedence over the rest.
  std::vector<Cidr> nat64 = {};      // Prefixes that embed an IPv4 address (RFC 6052).
  std::optional<Endpoint> own = {};  // This server's listener. No webhook may point to it.
  // NOLINTEND(*-redundant-member-init)
};

/// Returns nullopt if the address is allowed, otherwise a readable name of the rule that forbids
/// it, such as `loopback (127.0.0.0/8)`.
[[nodiscard]] std::optional<std::string> forbidden_address(const IpAddress& address,
                                                           const AddressPolicy& policy);

/// True if `target` is this server's own listener. `local` is the local address of the connection
/// to `target`, if there is one. It is needed to recognise a server that listens on all addresses.
[[nodiscard]] bool is_own_listener(const AddressPolicy& policy, const Endpoint& target,
                                   const std::optional<IpAddress>& local = std::nullopt);

/// The readable name of the rule of is_own_listener.
constexpr std::string_view own_address_rule = "this server's own listener";

}  // namespace postrider
