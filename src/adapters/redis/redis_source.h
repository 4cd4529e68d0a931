// Takes events from a Redis stream, as a consumer of a group.
#pragma once

#include <memory>
#include <string>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "ports/event_source.h"

namespace postrider {

struct RedisOptions {
  Secret<std::string> address;  // redis:// or rediss://
  std::string ca_file;          // PEM; empty: the system's authorities.
  std::string stream;
  std::string group;
  std::string consumer;    // Unique among the nodes.
  std::string json_field;  // The field whose JSON object is the message; empty: flat fields.
  std::string parking_stream;
  Millis claim_after{60'000};
  bool trims = false;
};

[[nodiscard]] std::unique_ptr<EventSource> make_redis_source(RedisOptions options);

}  // namespace postrider
