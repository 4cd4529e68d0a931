// Turns an accepted event into what must be stored: the event and one delivery per matching
// webhook. Pure.
#pragma once

#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "engine/intake/directory.h"
#include "engine/intake/publish.h"

namespace postrider {

/// `due` is the steady time. The event's own created_at may be ahead of it after a clock jump, and
/// a new event must not wait for it (P9).
[[nodiscard]] Publish plan_publish(Event event, const Directory& directory, UuidGenerator& ids,
                                   WallTime due);

/// The same for webhooks that are already known to match.
[[nodiscard]] Publish plan_publish(Event event, const std::vector<WebhookRef>& webhooks,
                                   UuidGenerator& ids, WallTime due);

}  // namespace postrider
