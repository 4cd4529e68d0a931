// The WebhookDeliveries of SQLite, for its catalogue. Store thread only.
#pragma once

#include <memory>

#include "adapters/sql/admin/webhook_deliveries.h"
#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<sql::WebhookDeliveries> make_webhook_deliveries(
    std::shared_ptr<Writer> writer);

}  // namespace postrider::sqlite
