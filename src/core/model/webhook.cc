#include "core/model/webhook.h"

#include <algorithm>
#include <utility>

#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<Ordering, Ordering::strict> ordering_names{
    {"none", "per_event_type", "strict"}};

}  // namespace

std::string_view to_string(Ordering ordering) { return ordering_names.name(ordering); }

std::optional<Ordering> parse_ordering(std::string_view text) { return ordering_names.find(text); }

bool wants(const Webhook& webhook, const Event& event) {
  if (!webhook.active || webhook.tenant_id != event.tenant_id) {
    return false;
  }
  if (webhook.resource_id && webhook.resource_id != event.resource_id) {
    return false;
  }
  const auto names_type = [&](const EventPattern& pattern) { return pattern.matches(event.type); };
  if (std::ranges::none_of(webhook.events, names_type)) {
    return false;
  }
  return !webhook.filter || webhook.filter->matches(event);
}

void switch_off(Webhook& webhook, std::optional<std::string> reason, WallTime now) {
  if (webhook.active) {
    webhook.active = false;
    webhook.disabled_reason = std::move(reason);
    webhook.disabled_at = now;
  }
}

void switch_on(Webhook& webhook) {
  webhook.active = true;
  webhook.disabled_reason.reset();
  webhook.disabled_at.reset();
}

}  // namespace postrider
