// Reads and writes rows of the table `notification_channel`.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/model/notification_channel.h"

#include "adapters/sql/database.h"

namespace postrider::sql {

/// In id order, without those that are removed.
[[nodiscard]] Result<std::vector<NotificationChannel>> read_channels(Database& database);
/// Adds or replaces a channel.
[[nodiscard]] Result<void> write_channel(Database& database, const NotificationChannel& channel);

}  // namespace postrider::sql
