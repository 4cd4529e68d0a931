// Reads waiting deliveries: pages of one lane, and the backlog of all lanes. The cost depends on
// the rows read, not on how many wait. Store thread only, except for the count.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/postgres/store/database/writer.h"

namespace postrider::postgres {

/// See Ledger::load_lane.
[[nodiscard]] Result<LanePage> load_lane(Writer& writer, const LoadLane& query);

/// The backlog of all lanes, in the order of webhook ids.
[[nodiscard]] Result<std::vector<LaneBacklog>> read_backlog(Session& session);
/// The backlog of these webhooks, which must be sorted. Leaves out lanes without a backlog.
[[nodiscard]] Result<std::vector<LaneBacklog>> read_backlog(Session& session,
                                                            const std::vector<WebhookId>& of);

/// See Ledger::count_waiting. Reads the index of all waiting deliveries. Any thread.
[[nodiscard]] Result<TenantCounts> count_waiting(Session& session);

/// The SQL of these reads, so that a test can check the query plans.
[[nodiscard]] std::vector<std::string_view> lane_queries();

}  // namespace postrider::postgres
