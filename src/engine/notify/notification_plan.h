// Decides which channels are told about a change of an alert or a finished operation. Pure.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/model/notification.h"
#include "engine/admin/channel_directory.h"

namespace postrider {

struct NotificationCause {
  NotificationKind kind;
  NotificationTransition transition = NotificationTransition::raised;
  std::optional<TenantId> tenant_id = std::nullopt;  // The affected tenant; nullopt: the server.
  std::optional<WebhookId> webhook_id = std::nullopt;
};

/// True if the end of such an alert is no news: it counts cases for an hour and then ends by
/// itself.
[[nodiscard]] constexpr bool ends_silently(AlertKind kind) {
  return kind == AlertKind::permanent_failure || kind == AlertKind::messages_rejected;
}

/// The channels of the server and of the affected tenant that want to know, in id order.
///
/// A channel is never told about its own webhook, and one of `failing` not about failing
/// notifications: it would be the last to hear.
[[nodiscard]] std::vector<ChannelRef> channels_for(const ChannelDirectory& channels,
                                                   const NotificationCause& cause,
                                                   const std::set<ChannelId>& failing);

}  // namespace postrider
