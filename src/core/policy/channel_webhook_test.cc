#include "core/policy/channel_webhook.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

Webhook disabled_webhook() {
  Webhook webhook;
  webhook.events = {*EventPattern::parse("*")};
  webhook.resource_id = "order-7";
  switch_off(webhook, "It failed.", WallTime{});
  return webhook;
}

TEST(ChannelWebhook, GetsOnlyWhatIsPublishedToIt) {
  NotificationChannel channel;
  channel.kind = ChannelKind::webhook;
  channel.name = "Ops";
  channel.tenant_id = "acme";
  channel.updated_at = WallTime{} + Millis{7};
  Webhook webhook = disabled_webhook();
  webhook.payload_format = PayloadFormat::tenant;
  derive_webhook(channel, webhook);
  EXPECT_EQ(webhook.tenant_id, "acme");
  EXPECT_EQ(webhook.name, "Notifications: Ops");
  EXPECT_TRUE(webhook.events.empty());
  EXPECT_EQ(webhook.resource_id, std::nullopt);
  EXPECT_EQ(webhook.payload_format, PayloadFormat::tenant);
  EXPECT_EQ(webhook.updated_at, channel.updated_at);
  EXPECT_TRUE(webhook.active);
  EXPECT_EQ(webhook.disabled_reason, std::nullopt);
}

TEST(ChannelWebhook, AChatServiceGetsTheDataAlone) {
  for (const ChannelKind kind : {ChannelKind::slack, ChannelKind::teams}) {
    NotificationChannel channel;
    channel.kind = kind;
    Webhook webhook;
    webhook.payload_form = PayloadForm::sorted;
    derive_webhook(channel, webhook);
    EXPECT_EQ(webhook.payload_format, PayloadFormat::raw);
    EXPECT_EQ(webhook.payload_form, PayloadForm::verbatim);
    EXPECT_EQ(webhook.tenant_id, reserved_tenant);
  }
}

TEST(ChannelWebhook, IsNotSwitchedOnByAnInactiveChannel) {
  NotificationChannel channel;
  channel.active = false;
  Webhook webhook = disabled_webhook();
  derive_webhook(channel, webhook);
  EXPECT_FALSE(webhook.active);
}

}  // namespace
}  // namespace postrider
