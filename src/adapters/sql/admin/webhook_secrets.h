// The encrypted columns of a webhook: secret, old secrets and headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/model/webhook.h"
#include "ports/catalog.h"
#include "ports/vault.h"

#include "adapters/sql/database.h"

namespace postrider::sql {

struct SecretColumns {
  std::string secret;
  std::string old_secrets;
  std::string headers;
  bool sealed = false;
};

/// Encrypts if there is a vault.
[[nodiscard]] SecretColumns pack_secrets(const Webhook& webhook, const Vault* vault);

/// Fills in the secrets and headers of `webhook`, whose id must be set. Fails with invalid if the
/// encryption key is missing, with corrupt if the columns are damaged.
[[nodiscard]] Result<void> unpack_secrets(const SecretColumns& columns, const Vault* vault,
                                          Webhook& webhook);

/// See Catalog::reseal_webhooks. Call within a transaction.
[[nodiscard]] Result<ResealStep> reseal_webhooks(Database& database, const Vault& vault,
                                                 std::optional<WebhookId> after,
                                                 std::uint32_t limit);

}  // namespace postrider::sql
