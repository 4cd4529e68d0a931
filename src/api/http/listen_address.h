// Parses the address that a server listens on.
#pragma once

#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "core/base/result.h"

namespace postrider::api {

/// Accepts `127.0.0.1:8080`, `[::1]:8080` and `localhost:8080`. Other names are refused, because
/// the interface they stand for would depend on a name server.
[[nodiscard]] Result<boost::asio::ip::tcp::endpoint> parse_listen_address(std::string_view text);

}  // namespace postrider::api
