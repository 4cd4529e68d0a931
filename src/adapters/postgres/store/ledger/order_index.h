// The index of the waiting deliveries by event type, which only lanes with an order per type need.
// Store thread only.
//
// The table ordered_lane has the webhooks whose deliveries are in the index, so that it costs
// nothing for other webhooks.
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"

#include "adapters/postgres/store/database/writer.h"

namespace postrider::postgres {

/// SQL: whether the deliveries of a webhook belong in the index. Part of every statement that adds
/// deliveries; costs nothing while ordered_lane is empty.
#define POSTRIDER_IS_ORDERED(webhook_id)                                        \
  "CASE WHEN EXISTS (SELECT 1 FROM ordered_lane)"                               \
  " THEN EXISTS (SELECT 1 FROM ordered_lane l WHERE l.webhook_id = " webhook_id \
  ")"                                                                           \
  " ELSE false END"

/// Adds the webhook's current and future deliveries to the index, if they are missing. Works in
/// steps, one transaction each. Continues after a crash.
[[nodiscard]] Result<void> ensure_order_index(Writer& writer, WebhookId webhook_id);

/// Queues the statement that stops indexing the deliveries of a removed webhook.
void queue_order_index_removal(Session& session, WebhookId webhook_id);

}  // namespace postrider::postgres
