// Tells whether a URL names this machine, so that a secret may be sent to it without TLS.
#pragma once

#include "core/net/target_url.h"

namespace postrider {

/// True only for hosts that no network is between, whatever a name server says.
[[nodiscard]] inline bool is_this_machine(const TargetUrl& server) {
  if (!server.address) {
    return server.host == "localhost";
  }
  const IpAddress address = server.address->unmapped().value_or(*server.address);
  return address.is_v6 ? address == IpAddress::parse("::1") : address.bytes[0] == 127;
}

}  // namespace postrider
