// `ADDR:PORT` as an endpoint to listen on.
#pragma once

#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "core/base/result.h"

namespace postrider::api {

/// `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`. A name other than localhost is refused:
/// which interface it would mean depends on somebody else's name server.
[[nodiscard]] Result<boost::asio::ip::tcp::endpoint> parse_listen_address(std::string_view text);

}  // namespace postrider::api
