// Reads and writes notification channels, and writes notifications, as JSON.
#pragma once

#include <optional>

#include "core/model/notification.h"
#include "core/model/notification_channel.h"
#include "core/net/target_url.h"
#include "engine/intake/directory.h"
#include "ports/notifications.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"
#include "runtime/admin/service.h"

namespace postrider::api {

struct ChannelRules {
  const UrlPolicy& url_policy;
  const Directory& webhooks;  // That the caller may name.
  bool creating = false;      // `name`, `kind` and `target` are required, `tenant_id` may be set.
  // The tenant of the API key, if it has one. No other tenant may be set.
  std::optional<TenantId> tenant_id = std::nullopt;
};

/// Merges a body into a channel and its webhook. `owned.webhook` must be set: it is ignored for
/// kind email. Errors go to the reader; if there are any, discard `owned`.
void read_channel(ObjectReader& reader, const ChannelRules& rules, OwnedChannel& owned);

/// Leaves the object open for further members. `webhook` is the one that the channel owns, or null.
void open_channel(JsonWriter& writer, const NotificationChannel& channel, const Webhook* webhook);
void write_counts(JsonWriter& writer, const NotificationCounts& counts);

void write_notification(JsonWriter& writer, const Notification& notification);

}  // namespace postrider::api
