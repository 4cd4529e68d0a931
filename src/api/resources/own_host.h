// Whether a Host header names this server. Links are made only for such hosts, and what needs no
// key on a loopback listener is shown only for them, because a web page can let its own name
// resolve to 127.0.0.1 and read the answers (DNS rebinding).
#pragma once

#include <string_view>

#include "core/net/address.h"

namespace postrider::api {

/// `localhost`, 127.0.0.0/8 or `[::1]`, with any port. Any port, because it may be forwarded.
[[nodiscard]] bool is_loopback_host(std::string_view host);

/// `listener` is the address that the server listens on. Its own address, the loopback hosts if it
/// listens on loopback or on all addresses, and every address if it listens on all of them.
[[nodiscard]] bool names_listener(std::string_view host, const IpAddress& listener);

/// True for 127.0.0.0/8 and ::1.
[[nodiscard]] bool is_loopback(const IpAddress& address);

}  // namespace postrider::api
