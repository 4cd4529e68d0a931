// Alerts in their table: the writer's side over its connection, the reader's over its own.
#pragma once

#include <memory>

#include "ports/alerts.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<AlertWriter> make_alert_writer(std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<AlertReader> make_alert_reader(std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
