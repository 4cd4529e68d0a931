#include "engine/notify/notification_plan.h"

#include <algorithm>

namespace postrider {
namespace {

bool wants_transition(const NotificationChannel& channel, const NotificationCause& cause) {
  if (cause.transition != NotificationTransition::resolved) {
    return true;
  }
  return channel.send_resolved && cause.kind.what == NotificationKind::What::alert &&
         !ends_silently(cause.kind.alert);
}

bool wants(const NotificationChannel& channel, const NotificationCause& cause) {
  const bool wants_kind =
      channel.kinds.empty() || std::ranges::count(channel.kinds, cause.kind) > 0;
  const bool wants_webhook =
      channel.webhook_ids.empty() ||
      (cause.webhook_id && std::ranges::count(channel.webhook_ids, *cause.webhook_id) > 0);
  return channel.active && wants_kind && wants_webhook &&
         severity_of(cause.kind) >= channel.severity_min && wants_transition(channel, cause);
}

}  // namespace

std::vector<ChannelRef> channels_for(const ChannelDirectory& channels,
                                     const NotificationCause& cause,
                                     const std::set<ChannelId>& failing) {
  const bool about_notifications =
      cause.kind == NotificationKind::of(AlertKind::notifications_failing);
  std::vector<ChannelRef> found;
  const auto add = [&](const std::vector<ChannelRef>& candidates) {
    for (const ChannelRef& channel : candidates) {
      const bool is_about_itself = (cause.webhook_id && channel->webhook_id == cause.webhook_id) ||
                                   (about_notifications && failing.contains(channel->id));
      if (!is_about_itself && wants(*channel, cause)) {
        found.push_back(channel);
      }
    }
  };
  add(channels.of(std::nullopt));
  if (cause.tenant_id) {
    add(channels.of(cause.tenant_id));
  }
  std::ranges::sort(found, {}, [](const ChannelRef& channel) { return channel->id; });
  return found;
}

}  // namespace postrider
