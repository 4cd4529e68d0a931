#include "engine/intake/intake.h"

#include <utility>

namespace postrider {

Publish plan_publish(Event event, const Directory& directory, UuidGenerator& ids, WallTime due) {
  const std::vector<WebhookRef> webhooks = directory.match(event);
  return plan_publish(std::move(event), webhooks, ids, due);
}

Publish plan_publish(Event event, const std::vector<WebhookRef>& webhooks, UuidGenerator& ids,
                     WallTime due) {
  Publish publish;
  publish.deliveries.reserve(webhooks.size());
  for (const WebhookRef& webhook : webhooks) {
    publish.deliveries.push_back(Delivery{.id = ids.make<DeliveryId>(event.created_at),
                                          .event_id = event.id,
                                          .webhook_id = webhook->id,
                                          .sequence = 0,
                                          .event_type = event.type,
                                          .priority = event.priority,
                                          .state = DeliveryState::pending,
                                          .trigger = Trigger::scheduled,
                                          .due = due,
                                          .attempt_count = 0,
                                          .budget_used = 0});
  }
  publish.event = std::move(event);
  return publish;
}

}  // namespace postrider
