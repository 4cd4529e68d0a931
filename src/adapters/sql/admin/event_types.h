// The EventTypes role (catalogue of event types) on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/event_types.h"

#include "adapters/sql/writer.h"

namespace postrider::sql {

[[nodiscard]] std::unique_ptr<EventTypes> make_event_types(std::shared_ptr<Writer> writer);

}  // namespace postrider::sql
