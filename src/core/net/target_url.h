// The URL of a webhook, parsed once and handed on as a struct, so that no two parsers can disagree.
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
  std::string
      host;  // Lower case, without brackets and trailing dot. An address is in canonical form.
  std::optional<IpAddress> address;  // Set when the host is an IP literal.
  std::uint16_t port = 443;
  std::string path_and_query = "/";

  /// `host` or `host:port`, bracketed for IPv6: the Host header.
  [[nodiscard]] std::string authority() const;

  bool operator==(const TargetUrl&) const = default;
};

/// With `addresses.allow_private` internal names and all ports pass as well. An `addresses.allowed`
/// list lets internal names pass: the list decides once they are resolved.
struct UrlPolicy {
  bool allow_http = false;
  AddressPolicy addresses =
      {};  // Literal addresses are checked here; names when they are resolved.
};

constexpr std::size_t url_length_max = 2048;

/// Errc::invalid with a sentence naming the broken rule.
[[nodiscard]] Result<TargetUrl> parse_target_url(std::string_view text, const UrlPolicy& policy);

}  // namespace postrider
