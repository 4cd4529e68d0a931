#include "adapters/redis/redis_address.h"

#include <algorithm>
#include <optional>

#include "core/base/parse_number.h"

namespace postrider::redis {
namespace {

constexpr std::size_t host_length_max = 253;

tl::unexpected<Error> refuse(std::string message) {
  return fail(Errc::invalid, std::move(message));
}

std::optional<int> hex_digit(char character) {
  constexpr std::string_view digits = "0123456789abcdef";
  const char lower =
      character >= 'A' && character <= 'F' ? static_cast<char>(character - 'A' + 'a') : character;
  const std::size_t position = digits.find(lower);
  return position == std::string_view::npos ? std::nullopt
                                            : std::optional{static_cast<int>(position)};
}

std::optional<std::string> decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (text[index] != '%') {
      decoded += text[index];
      continue;
    }
    const std::optional<int> high =
        index + 2 < text.size() ? hex_digit(text[index + 1]) : std::nullopt;
    const std::optional<int> low = high ? hex_digit(text[index + 2]) : std::nullopt;
    if (!low) {
      return std::nullopt;
    }
    decoded += static_cast<char>(*high * 16 + *low);
    index += 2;
  }
  return decoded;
}

Result<void> read_login(RedisAddress& address, std::string_view login) {
  const std::size_t colon = login.find(':');
  const std::optional<std::string> user = decode_percent(login.substr(0, colon));
  const std::optional<std::string> password = decode_percent(
      colon == std::string_view::npos ? std::string_view{} : login.substr(colon + 1));
  if (!user || !password) {
    return refuse("The user or password of the address has an invalid percent escape.");
  }
  if (!user->empty() && password->empty()) {
    return refuse("The address has a user without a password. Write user:password@host.");
  }
  address.user = *user;
  address.password = Secret{*password};
  return {};
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= host_length_max &&
         std::ranges::all_of(host, [](char c) { return c > ' ' && c < 0x7f && c != '%'; });
}

Result<void> read_host(RedisAddress& address, std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return refuse("The address has an opening bracket without a closing one.");
    }
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (!is_host(host)) {
    return refuse("The address has no valid host name.");
  }
  address.host = host;
  if (port.empty()) {
    return {};
  }
  const std::optional<std::uint16_t> number =
      port.starts_with(':') ? parse_number<std::uint16_t>(port.substr(1)) : std::nullopt;
  if (!number || *number == 0) {
    return refuse("The port of the address is not a number from 1 to 65535.");
  }
  address.port = *number;
  return {};
}

Result<void> read_database(RedisAddress& address, std::string_view path) {
  if (path.empty()) {
    return {};
  }
  const std::optional<std::uint32_t> number = parse_number<std::uint32_t>(path);
  if (!number) {
    return refuse("The database of the address is not a number. Write redis://host:6379/0.");
  }
  address.database = *number;
  return {};
}

}  // namespace

Result<RedisAddress> parse_redis_address(std::string_view text) {
  RedisAddress address;
  constexpr std::string_view plain = "redis://";
  constexpr std::string_view secure = "rediss://";
  if (text.starts_with(secure)) {
    address.tls = true;
    text.remove_prefix(secure.size());
  } else if (text.starts_with(plain)) {
    text.remove_prefix(plain.size());
  } else {
    return refuse("The address of a Redis source must start with redis:// or rediss://.");
  }
  // The last @ ends the login, because a password may contain others.
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    POSTRIDER_CHECK(read_login(address, text.substr(0, at)));
    text.remove_prefix(at + 1);
  }
  if (text.find_first_of("?#") != std::string_view::npos) {
    return refuse("The address must not have a query or a fragment.");
  }
  const std::size_t slash = text.find('/');
  POSTRIDER_CHECK(read_host(address, text.substr(0, slash)));
  if (slash != std::string_view::npos) {
    POSTRIDER_CHECK(read_database(address, text.substr(slash + 1)));
  }
  return address;
}

}  // namespace postrider::redis
