// Reads a webhook's health on a reader's connection. Call within a snapshot, because it runs
// several queries.
#pragma once

#include <map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/history.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

[[nodiscard]] Result<WebhookHealth> read_health(Database& database, WebhookId id);

/// See History::latest_results.
[[nodiscard]] Result<std::map<WebhookId, LatestResults>> read_latest_results(
    Database& database, const std::vector<WebhookId>& ids);

}  // namespace postrider::sqlite
