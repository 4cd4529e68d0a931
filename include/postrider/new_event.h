// An event that an application publishes, through a client (client.h) or through an outbox table
// (outbox.h). For C++17 and later.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace postrider {

/// Text members must be UTF-8. An empty text means that the member is not set.
struct NewEvent {
  enum class Priority : std::uint8_t { low, normal, high };

  std::string type;             // `order.paid`. Required.
  std::string data;             // JSON text of any value. Required.
  std::string idempotency_key;  // Empty: generated.
  std::string tenant_id;
  std::string resource_id;
  std::string ordering_key;
  std::string source;
  std::string metadata;  // JSON text of an object.
  Priority priority = Priority::normal;
  /// When it happened. nullopt: when the server accepts it.
  std::optional<std::chrono::system_clock::time_point> timestamp;
};

}  // namespace postrider
