#include "api/http/listen_address.h"

#include <cstdint>
#include <string>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "core/base/parse_number.h"

namespace postrider::api {

namespace ip = boost::asio::ip;

Result<ip::tcp::endpoint> parse_listen_address(std::string_view text) {
  const auto refuse = [&] {
    return fail(Errc::invalid, fmt::format("`{}` is not a valid listen address. Use ADDR:PORT, for "
                                           "example 127.0.0.1:8080 or [::1]:8080.",
                                           text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return refuse();
  }
  std::string_view host = text.substr(0, colon);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) {
    return refuse();
  }

  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) {
    host = host.substr(1, host.size() - 2);
  } else if (host == "localhost") {
    host = "127.0.0.1";
  }
  boost::system::error_code bad_address;
  const ip::address address = ip::make_address(std::string{host}, bad_address);
  if (bad_address || address.is_v6() != bracketed) {
    return refuse();
  }
  return ip::tcp::endpoint{address, *port};
}

}  // namespace postrider::api
