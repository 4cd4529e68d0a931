// Reads the health of a webhook. Reader thread.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/history.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// Counts all attempts that are stored, also those before one that retention has removed.
[[nodiscard]] Result<WebhookHealth> read_health(Session& session, WebhookId id);

/// See History::latest_results.
[[nodiscard]] Result<std::map<WebhookId, LatestResults>> read_latest_results(
    Session& session, const std::vector<WebhookId>& ids);

/// Its SQL, so that a test can check the query plan.
[[nodiscard]] std::string_view latest_results_query();

}  // namespace postrider::postgres
