// What `postrider send` was asked to do: flags and environment, already checked.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/secret.h"
#include "core/target_url.h"

namespace postrider::cli {

struct SendOptions {
  TargetUrl server;
  Secret<std::string> key;  // Empty: none is sent.
  std::string type;
  std::string data = "{}";  // As given: JSON, `@FILE`, or `-` for standard input.
  std::optional<std::string> tenant_id;
  std::optional<std::string> resource_id;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> source;
  std::optional<std::string> ordering_key;
  std::optional<std::string> priority;
  std::optional<std::string> timestamp;
  std::chrono::seconds timeout{30};
  bool json = false;
};

}  // namespace postrider::cli
