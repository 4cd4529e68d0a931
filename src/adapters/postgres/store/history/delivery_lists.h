// Lists and counts deliveries. Reader thread. Call within a read: each runs several statements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ports/history.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

[[nodiscard]] Result<Listed<DeliveryRecord>> list_deliveries(Session& session,
                                                             const DeliveryFilter& filter,
                                                             const Page& page);
[[nodiscard]] Result<PartialCount> count_deliveries(Session& session, const DeliveryFilter& filter,
                                                    const CountRange& range);

/// A dead letter as DeadLetterFacts shows it.
struct DeadLetterRow {
  WebhookId webhook_id;
  std::string event_type;
  std::optional<FailureCategory> failure_category;
  std::optional<Classification> classification;
  WallTime completed_at;
};
struct DeadLetterRows {
  std::vector<DeadLetterRow> rows;
  std::optional<std::int64_t> next;  // Where the next range begins.
};
[[nodiscard]] Result<DeadLetterRows> read_dead_letters(Session& session,
                                                       const DeliveryFilter& filter,
                                                       const CountRange& range);

}  // namespace postrider::postgres
