// What the shared catalogue of webhooks needs from the tables of deliveries. Store thread only.
#pragma once

#include <memory>

#include "adapters/postgres/store/database/writer.h"
#include "adapters/sql/admin/webhook_deliveries.h"

namespace postrider::postgres {

[[nodiscard]] std::unique_ptr<sql::WebhookDeliveries> make_webhook_deliveries(
    std::shared_ptr<Writer> writer);

}  // namespace postrider::postgres
