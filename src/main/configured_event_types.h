// Adds the event types of the configuration to the catalogue when the server starts.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/event_types.h"

#include "config/config.h"

namespace postrider {

/// Adds missing event types. Existing ones are not changed.
[[nodiscard]] Result<void> add_missing_event_types(
    EventTypes& catalogue, const std::vector<config::EventTypeConfig>& wanted, WallTime now);

}  // namespace postrider
