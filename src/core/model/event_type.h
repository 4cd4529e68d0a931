// An entry of the event type catalogue: description, schema and example of one event type.
#pragma once

#include <optional>
#include <string>

#include "core/base/time.h"

namespace postrider {

struct EventType {
  std::string name;  // A valid event type (see event_pattern.h).
  std::optional<std::string> description;
  std::optional<std::string> schema;   // JSON Schema of the events' data, verbatim.
  std::optional<std::string> example;  // JSON, verbatim. Satisfies the schema.
  bool validate = true;                // Reject events whose data does not satisfy the schema.
  bool archived = false;               // Reject new events of this type.
  WallTime created_at;
  WallTime updated_at;

  bool operator==(const EventType&) const = default;
};

}  // namespace postrider
