#include "api/resources/own_host.h"

#include <algorithm>
#include <optional>

#include "core/net/header_rules.h"

namespace postrider::api {
namespace {

/// The name or address without port and brackets. Empty if it is malformed.
std::string_view name_in(std::string_view host) {
  const auto is_port = [](std::string_view text) {
    return text.empty() ||
           (text.front() == ':' && text.size() <= 6 &&
            std::ranges::all_of(text.substr(1), [](char c) { return '0' <= c && c <= '9'; }));
  };
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end != std::string_view::npos && is_port(host.substr(end + 1)) ? host.substr(1, end - 1)
                                                                          : std::string_view{};
  }
  const std::size_t colon = std::min(host.find(':'), host.size());
  return is_port(host.substr(colon)) ? host.substr(0, colon) : std::string_view{};
}

bool is_unspecified(const IpAddress& address) {
  return std::ranges::all_of(address.bytes, [](std::uint8_t byte) { return byte == 0; });
}

std::optional<IpAddress> address_in(std::string_view host) {
  const std::optional<IpAddress> address = IpAddress::parse(name_in(host));
  return address ? address->unmapped().value_or(*address) : address;
}

}  // namespace

bool is_loopback(const IpAddress& address) {
  const IpAddress plain = address.unmapped().value_or(address);
  return plain.is_v6 ? plain == *IpAddress::parse("::1") : plain.bytes[0] == 127;
}

bool is_loopback_host(std::string_view host) {
  const std::optional<IpAddress> address = address_in(host);
  return address ? is_loopback(*address) : same_header(name_in(host), "localhost");
}

bool names_listener(std::string_view host, const IpAddress& listener) {
  const bool everywhere = is_unspecified(listener);
  if ((everywhere || is_loopback(listener)) && is_loopback_host(host)) {
    return true;
  }
  const std::optional<IpAddress> address = address_in(host);
  return address && (everywhere || *address == listener.unmapped().value_or(listener));
}

}  // namespace postrider::api
