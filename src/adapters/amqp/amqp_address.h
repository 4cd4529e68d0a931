// The address of a RabbitMQ server: amqp://user:password@host:port/vhost?heartbeat=30. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/secret.h"

namespace postrider::amqp {

struct Address {
  bool tls = false;
  std::string host = "localhost";  // Without brackets.
  std::uint16_t port = 5672;       // 5671 with TLS.
  std::string user = "guest";
  Secret<std::string> password{"guest"};
  std::string vhost = "/";
  std::uint16_t heartbeat_s = 30;

  /// `host:port`, for messages to the operator.
  [[nodiscard]] std::string shown() const;

  bool operator==(const Address&) const = default;
};

/// Fails with invalid and a sentence that does not contain the password.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

}  // namespace postrider::amqp
