// The NotificationWriter role on the writer's connection and the NotificationReader role on a
// reader's connection.
#pragma once

#include <memory>

#include "ports/notifications.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<NotificationWriter> make_notification_writer(
    std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<NotificationReader> make_notification_reader(
    std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
