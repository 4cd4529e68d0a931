// Pages of deliveries and events for people, from a reader's connection. Within a snapshot: each
// makes several queries.
#pragma once

#include "core/event.h"
#include "core/result.h"
#include "ports/history.h"

#include "adapters/sqlite/database.h"

namespace postrider::sqlite {

[[nodiscard]] Result<Listed<DeliveryRecord>> list_deliveries(Database& database,
                                                             const DeliveryFilter& filter,
                                                             const Page& page);
[[nodiscard]] Result<Listed<Event>> list_events(Database& database, const EventFilter& filter,
                                                const Page& page);

}  // namespace postrider::sqlite
