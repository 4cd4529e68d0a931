#include "adapters/amqp/amqp_address.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/parse_number.h"

namespace postrider::amqp {
namespace {

tl::unexpected<Error> refuse(std::string_view problem) {
  return fail(Errc::invalid, fmt::format("The address of RabbitMQ {}.", problem));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Decodes `%2f`. The library takes strings that end at a zero byte, so none is accepted.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    const int high = at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? hex_digit(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    plain += static_cast<char>(high * 16 + low);
    at += 2;
  }
  if (plain.find('\0') != std::string::npos) {
    return std::nullopt;
  }
  return plain;
}

/// Cuts `text` at the first `separator` and returns what follows it.
std::optional<std::string_view> cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

Result<void> read_login(Address& address, std::string_view login) {
  const std::optional<std::string_view> password = cut(login, ':');
  std::optional<std::string> plain_user = decoded(login);
  std::optional<std::string> plain_password = decoded(password.value_or(""));
  if (!plain_user || !plain_password) {
    return refuse("has a user or password that is not percent-encoded correctly");
  }
  address.user = *std::move(plain_user);
  address.password = Secret{*std::move(plain_password)};
  return {};
}

Result<void> read_host(Address& address, std::string_view text) {
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const std::optional<std::string_view> rest = cut(text, ']');
    if (!rest || !(rest->empty() || rest->starts_with(':'))) {
      return refuse("has an incomplete IPv6 address");
    }
    text.remove_prefix(1);
    if (!rest->empty()) {
      port = rest->substr(1);
    }
  } else {
    port = cut(text, ':');
  }
  if (text.empty()) {
    return refuse("has no host");
  }
  address.host = text;
  if (port) {
    const std::optional<std::uint16_t> value = parse_number<std::uint16_t>(*port);
    if (!value || *value == 0) {
      return refuse("has a port that is not a number from 1 to 65535");
    }
    address.port = *value;
  }
  return {};
}

Result<void> read_query(Address& address, std::string_view query) {
  while (!query.empty()) {
    std::string_view pair = query;
    query = cut(pair, '&').value_or("");
    const std::optional<std::string_view> value = cut(pair, '=');
    if (pair != "heartbeat") {
      return refuse("has an unknown parameter; only `heartbeat` is supported");
    }
    const std::optional<std::uint16_t> seconds = parse_number<std::uint16_t>(value.value_or(""));
    if (!seconds || *seconds == 0 || *seconds > 3'600) {
      return refuse("has a heartbeat that is not a number of seconds from 1 to 3600");
    }
    address.heartbeat_s = *seconds;
  }
  return {};
}

}  // namespace

std::string Address::shown() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", host, ipv6 ? "]" : "", port);
}

Result<Address> parse_address(std::string_view text) {
  Address address;
  if (text.starts_with("amqps://")) {
    address.tls = true;
    address.port = 5671;
    text.remove_prefix(8);
  } else if (text.starts_with("amqp://")) {
    text.remove_prefix(7);
  } else {
    return refuse("does not start with amqp:// or amqps://");
  }
  const std::string_view query = cut(text, '?').value_or("");
  const std::optional<std::string_view> path = cut(text, '/');
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    POSTRIDER_CHECK(read_login(address, text.substr(0, at)));
    text.remove_prefix(at + 1);
  }
  POSTRIDER_CHECK(read_host(address, text));
  // `amqp://host/` means the default vhost here: nobody names a vhost with an empty text.
  if (path && !path->empty()) {
    std::optional<std::string> vhost = decoded(*path);
    if (!vhost || path->find('/') != std::string_view::npos) {
      return refuse("has a vhost that is not percent-encoded; write %2f for a slash");
    }
    address.vhost = *std::move(vhost);
  }
  POSTRIDER_CHECK(read_query(address, query));
  return address;
}

}  // namespace postrider::amqp
