// The conditions under which a webhook gets an event. All must hold; the webhook must be active.
#pragma once

#include <algorithm>

#include "core/model/event.h"
#include "core/model/webhook.h"

namespace postrider {

[[nodiscard]] inline bool matches_tenant(const Webhook& webhook, const Event& event) {
  return webhook.tenant_id == event.tenant_id;
}

[[nodiscard]] inline bool matches_resource(const Webhook& webhook, const Event& event) {
  return !webhook.resource_id || webhook.resource_id == event.resource_id;
}

[[nodiscard]] inline bool matches_type(const Webhook& webhook, const Event& event) {
  return std::ranges::any_of(
      webhook.events, [&](const EventPattern& pattern) { return pattern.matches(event.type); });
}

[[nodiscard]] inline bool matches_filter(const Webhook& webhook, const Event& event) {
  return !webhook.filter || webhook.filter->matches(event);
}

}  // namespace postrider
