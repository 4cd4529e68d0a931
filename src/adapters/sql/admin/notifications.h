// The NotificationWriter role on the writer's connection and the NotificationReader role on a
// reader's connection.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ports/notifications.h"

#include "adapters/sql/database.h"
#include "adapters/sql/writer.h"

namespace postrider::sql {

[[nodiscard]] std::unique_ptr<NotificationWriter> make_notification_writer(
    std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<NotificationReader> make_notification_reader(
    std::shared_ptr<Database> database);

/// The SQL that reads many rows, so that a test can check the query plans.
[[nodiscard]] std::vector<std::string_view> notification_queries();

}  // namespace postrider::sql
