// The URL of a webhook. Parsed once and passed on as a struct, so that no two parsers can disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/net/address.h"

namespace postrider {

struct TargetUrl {
  bool tls = true;
  /// Lower case, without brackets and trailing dot. An address is in canonical form.
  std::string host;
  std::optional<IpAddress> address;  // Set if the host is an IP literal.
  std::uint16_t port = 443;
  std::string path_and_query = "/";

  /// The Host header: `host` or `host:port`, with brackets for IPv6.
  [[nodiscard]] std::string authority() const;

  bool operator==(const TargetUrl&) const = default;
};

/// `addresses.allow_private` also allows internal names and all ports. A nonempty
/// `addresses.allowed` also allows internal names; their addresses are checked after resolving.
struct UrlPolicy {
  bool allow_http = false;
  /// Literal addresses are checked while parsing, names when they are resolved.
  AddressPolicy addresses = {};
};

constexpr std::size_t url_length_max = 2048;

/// The URL without its query, which may contain a secret. For alerts and logs (P11).
[[nodiscard]] std::string_view shown_url(std::string_view text);

/// Fails with invalid and a sentence naming the broken rule.
[[nodiscard]] Result<TargetUrl> parse_target_url(std::string_view text, const UrlPolicy& policy);

}  // namespace postrider
