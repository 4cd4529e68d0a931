#include "core/model/webhook.h"

#include <utility>

#include "core/base/enum_names.h"
#include "core/model/event_match.h"

namespace postrider {
namespace {

constexpr EnumNames<Ordering, Ordering::strict> ordering_names{
    {"none", "per_event_type", "strict"}};

}  // namespace

std::string_view to_string(Ordering ordering) { return ordering_names.name(ordering); }

std::optional<Ordering> parse_ordering(std::string_view text) { return ordering_names.find(text); }

bool wants(const Webhook& webhook, const Event& event) {
  return webhook.active && !is_reserved_type(event.type) && matches_tenant(webhook, event) &&
         matches_resource(webhook, event) && matches_type(webhook, event) &&
         matches_filter(webhook, event);
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
