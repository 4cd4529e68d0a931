// What is written down about a type of events: the catalogue's entry.
#pragma once

#include <optional>
#include <string>

#include "core/base/time.h"

namespace postrider {

struct EventType {
  std::string name;  // An event type as in event_pattern.h.
  std::optional<std::string> description;
  std::optional<std::string> schema;   // JSON Schema of the events' data, verbatim.
  std::optional<std::string> example;  // JSON, verbatim. Satisfies the schema.
  bool validate = true;                // Events whose data does not satisfy the schema are refused.
  bool archived = false;               // No more events of this type are accepted.
  WallTime created_at;
  WallTime updated_at;

  bool operator==(const EventType&) const = default;
};

}  // namespace postrider
