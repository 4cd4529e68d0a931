// The AlertWriter role on the writer's connection and the AlertReader role on a reader's
// connection.
#pragma once

#include <memory>

#include "ports/alerts.h"

#include "adapters/sql/database.h"
#include "adapters/sql/writer.h"

namespace postrider::sql {

[[nodiscard]] std::unique_ptr<AlertWriter> make_alert_writer(std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<AlertReader> make_alert_reader(std::shared_ptr<Database> database);

}  // namespace postrider::sql
