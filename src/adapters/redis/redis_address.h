// The address of a Redis server: redis://[user[:password]@]host[:port][/database], or rediss:// for
// TLS. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/secret.h"

namespace postrider::redis {

struct RedisAddress {
  bool tls = false;
  std::string host;  // Without brackets.
  std::uint16_t port = 6379;
  std::string user;              // Empty: the default user.
  Secret<std::string> password;  // Empty: no AUTH.
  std::uint32_t database = 0;
};

/// User and password may contain percent escapes. Fails with invalid. The message never contains
/// the password.
[[nodiscard]] Result<RedisAddress> parse_redis_address(std::string_view text);

}  // namespace postrider::redis
