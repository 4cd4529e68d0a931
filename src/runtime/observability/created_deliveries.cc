#include "runtime/observability/created_deliveries.h"

#include <optional>

namespace postrider {

void CreatedDeliveries::add(const TenantId& tenant_id, const Delivery& delivery) {
  Group& group = groups_[{tenant_id, delivery.event_type}];
  ++group.deliveries;
  if (group.webhooks.size() <= created_webhooks_max) {
    ++group.webhooks[delivery.webhook_id];
  }
}

std::vector<StreamEvent> CreatedDeliveries::to_stream_events(WallTime now) const {
  std::vector<StreamEvent> all;
  std::size_t left = created_webhooks_max;
  for (const auto& [key, group] : groups_) {
    const auto& [tenant_id, event_type] = key;
    const auto add = [&](std::optional<WebhookId> webhook_id, std::uint64_t count) {
      all.push_back({.at = now,
                     .webhook_id = webhook_id,
                     .tenant_id = tenant_id,
                     .what = DeliveriesCreated{.event_type = event_type, .count = count}});
    };
    if (group.webhooks.size() > left) {
      add(std::nullopt, group.deliveries);
      continue;
    }
    left -= group.webhooks.size();
    for (const auto& [webhook_id, count] : group.webhooks) {
      add(webhook_id, count);
    }
  }
  return all;
}

}  // namespace postrider
