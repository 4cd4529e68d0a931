// Lists events. Reader thread. Call within a read: each function runs several statements.
#pragma once

#include "core/base/result.h"
#include "ports/history.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

[[nodiscard]] Result<Listed<Event>> list_events(Session& session, const EventFilter& filter,
                                                const Page& page);

struct EventsForQuery {
  WebhookId webhook_id;
  EventFilter filter;
  ForwardPage page;
};
[[nodiscard]] Result<Listed<EventForWebhook>> list_events_for(Session& session,
                                                              const EventsForQuery& query);

}  // namespace postrider::postgres
