// Takes events from a RabbitMQ queue.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "ports/event_source.h"

namespace postrider {

struct AmqpOptions {
  Secret<std::string> address;  // amqp:// or amqps://
  std::string ca_file;          // PEM; empty: the system's authorities.
  std::string queue;
  std::string parking_queue;
  bool declares = true;           // Creates missing queues. Otherwise both must exist.
  bool body_is_envelope = false;  // The fields are the members of the body, a JSON object.
  std::uint32_t prefetch = 1'000;
};

/// Fails with invalid if the address is not one.
[[nodiscard]] Result<std::unique_ptr<EventSource>> make_amqp_source(AmqpOptions options);

}  // namespace postrider
