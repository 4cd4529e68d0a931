// Reads what the last run of the server left of its notifications.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "ports/notifications.h"

#include "runtime/notifications/notifier.h"

namespace postrider {

/// `alerts`: the active ones. Call at start, before the store thread runs. `reader` may be null:
/// then what was told and sent is not known.
[[nodiscard]] Result<NotificationsBefore> load_notifications(NotificationWriter& writer,
                                                             NotificationReader* reader,
                                                             const std::vector<Alert>& alerts,
                                                             WallTime now);

/// Adds to `before`, which has the active alerts and what waits, what was told and sent. For a
/// server that continues after another one.
[[nodiscard]] Result<void> load_told_and_sent(NotificationReader& reader,
                                              const std::vector<NotificationChannel>& channels,
                                              WallTime now, NotificationsBefore& before);

}  // namespace postrider
