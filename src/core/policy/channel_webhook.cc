#include "core/policy/channel_webhook.h"

namespace postrider {

void derive_webhook(const NotificationChannel& channel, Webhook& webhook) {
  webhook.tenant_id = owner_of(channel);
  webhook.name = "Notifications: " + channel.name;
  webhook.events.clear();  // It gets only what is published to it alone.
  webhook.filter.reset();
  webhook.resource_id.reset();
  if (channel.kind != ChannelKind::webhook) {
    webhook.payload_format = PayloadFormat::raw;  // The data is the chat service's message.
    webhook.payload_form = PayloadForm::verbatim;
  }
  if (channel.active) {
    switch_on(webhook);
  }
  webhook.updated_at = channel.updated_at;
}

}  // namespace postrider
