// A webhook to a row of its table and back.
#pragma once

#include "core/result.h"
#include "core/webhook.h"

#include "adapters/sqlite/database.h"

namespace postrider::sqlite {

[[nodiscard]] Result<std::vector<Webhook>> read_webhooks(Database& database);
/// Adds or replaces.
[[nodiscard]] Result<void> write_webhook(Database& database, const Webhook& webhook);

}  // namespace postrider::sqlite
