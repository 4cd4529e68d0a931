// Lists and counts deliveries, attempts and events on a reader's connection. Call within a
// snapshot, because each function runs several queries.
#pragma once

#include "core/base/result.h"
#include "core/model/event.h"
#include "ports/history.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

// history_lists.cc
[[nodiscard]] Result<Listed<DeliveryRecord>> list_deliveries(Database& database,
                                                             const DeliveryFilter& filter,
                                                             const Page& page);
[[nodiscard]] Result<PartialCount> count_deliveries(Database& database,
                                                    const DeliveryFilter& filter,
                                                    const CountRange& range);
struct DeadLetterScan {
  const DeliveryFilter& filter;
  const CountRange& range;
  const TakeDeadLetter& take;
};
[[nodiscard]] Result<std::optional<std::int64_t>> scan_dead_letters(Database& database,
                                                                    const DeadLetterScan& scan);

// history_attempts.cc
[[nodiscard]] Result<ListedAttempts> list_attempts(Database& database, const AttemptFilter& filter,
                                                   const AttemptPage& page);

// history_events.cc
[[nodiscard]] Result<Listed<Event>> list_events(Database& database, const EventFilter& filter,
                                                const Page& page);

struct EventsForQuery {
  WebhookId webhook_id;
  EventFilter filter;
  ForwardPage page;
};
[[nodiscard]] Result<Listed<EventForWebhook>> list_events_for(Database& database,
                                                              const EventsForQuery& query);

}  // namespace postrider::sqlite
