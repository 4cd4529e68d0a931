// Reads what an archive keeps of expired events: the events, their deliveries and attempts.
#pragma once

#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/retention.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

struct ExpiredIds {
  ExpiredKey key;
  EventId event_id;
  std::optional<DeliveryId> delivery_id = std::nullopt;  // Of `only_delivery`.
};

/// Returns the contents in the order of `ids`, which must be all events or all single deliveries.
[[nodiscard]] Result<std::vector<ExpiredEvent>> read_contents(Session& session,
                                                              const std::vector<ExpiredIds>& ids);

}  // namespace postrider::postgres
