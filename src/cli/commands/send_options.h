// The checked options of `postrider send`.
#pragma once

#include <optional>
#include <string>

#include "cli/client/connection.h"

namespace postrider::cli {

struct SendOptions {
  Connection connection;
  std::string type;
  std::string data = "{}";  // JSON, `@FILE`, or `-` for standard input.
  std::optional<std::string> tenant_id;
  std::optional<std::string> resource_id;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> source;
  std::optional<std::string> ordering_key;
  std::optional<std::string> priority;
  std::optional<std::string> timestamp;
};

}  // namespace postrider::cli
