// Reads and writes rows of the table `webhook`.
#pragma once

#include "core/base/result.h"
#include "core/model/webhook.h"
#include "ports/vault.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// `vault` may be null.
[[nodiscard]] Result<std::vector<Webhook>> read_webhooks(Database& database, const Vault* vault);
/// Adds or replaces a webhook. Encrypts secrets if there is a vault.
[[nodiscard]] Result<void> write_webhook(Database& database, const Webhook& webhook,
                                         const Vault* vault);

}  // namespace postrider::sqlite
