// Reads and changes rows of the table `request_shape`, except for adding them, which is part of a
// ledger's transaction.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/request/request_shape.h"
#include "ports/vault.h"

#include "adapters/sql/database.h"
#include "adapters/sql/sealed_shape.h"

namespace postrider::sql {

/// The columns `sealed` and `shape`; `first` is the column `sealed`.
[[nodiscard]] ShapeColumns read_shape_columns(const Query& query, int first);

/// Returns nullopt if none of the vault's keys decrypts it. Fails with corrupt.
[[nodiscard]] Result<std::optional<RequestShape>> read_shape(Database& database,
                                                             const ShapeKey& key,
                                                             const Vault* vault);

/// Retires the shapes of a removed webhook: only deliveries below `next_sequence` refer to them.
[[nodiscard]] Result<void> retire_shapes(Database& database, WebhookId webhook_id,
                                         std::int64_t next_sequence);

struct WebhookRange {
  WebhookId after;
  WebhookId last;  // Inclusive.
};

/// Encrypts shapes that are stored in plain text or under an older key with the current key. Call
/// within a transaction.
[[nodiscard]] Result<void> reseal_shapes(Database& database, const WebhookRange& range,
                                         const Vault& vault);

}  // namespace postrider::sql
