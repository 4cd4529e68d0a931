// Reads and writes rows of the table `webhook`.
#pragma once

#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/webhook.h"
#include "ports/vault.h"

#include "adapters/sql/database.h"

namespace postrider::sql {

/// `vault` may be null.
[[nodiscard]] Result<std::vector<Webhook>> read_webhooks(Database& database, const Vault* vault);
/// Returns nullopt if there is no such webhook.
[[nodiscard]] Result<std::optional<Webhook>> find_webhook(Database& database, const Vault* vault,
                                                          WebhookId id);
/// Adds or replaces a webhook. Encrypts secrets if there is a vault.
[[nodiscard]] Result<void> write_webhook(Database& database, const Webhook& webhook,
                                         const Vault* vault);

}  // namespace postrider::sql
