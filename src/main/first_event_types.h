// The event types a configuration names are in the catalogue when the server starts.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/event_types.h"

#include "config/config.h"

namespace postrider {

/// Adds those that are missing. What is there stays as people made it.
[[nodiscard]] Result<void> add_missing_event_types(
    EventTypes& catalogue, const std::vector<config::EventTypeConfig>& wanted, WallTime now);

}  // namespace postrider
