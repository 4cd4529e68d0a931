// Alerts in their table: the writer's side over its connection, the reader's over its own.
#pragma once

#include <memory>

#include "ports/alert_book.h"

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<AlertBook> make_alert_book(std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<AlertHistory> make_alert_history(std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
