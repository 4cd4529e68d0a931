#include "main/configured_channels.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "adapters/openssl/digest.h"
#include "adapters/openssl/openssl_crypto.h"

namespace postrider {
namespace {

config::ChannelConfig email() {
  config::ChannelConfig channel;
  channel.name = "On call";
  channel.email.to = {"ops@example.com"};
  return channel;
}

config::ChannelConfig hook(const std::string& url) {
  config::ChannelConfig channel;
  channel.name = "Ops";
  channel.kind = ChannelKind::webhook;
  channel.url = Secret{url};
  return channel;
}

class ConfiguredChannelsTest : public testing::Test {
 protected:
  ConfiguredChannelsTest() { memory_.digest = sha256; }

  void start_with(std::vector<config::ChannelConfig> channels) {
    config::Config config;
    config.channels = std::move(channels);
    now_ += Millis{1'000};
    ASSERT_TRUE(store_configured_channels(store_, config,
                                          {.crypto = openssl_crypto(), .ids = ids_, .now = now_}));
  }

  const NotificationChannel& only() { return memory_.channels.begin()->second; }

  MemoryStore memory_;
  Store store_ = make_memory_store(memory_);
  UuidGenerator ids_{1};
  WallTime now_ = wall_from_unix_ms(1'767'225'600'000);
};

TEST_F(ConfiguredChannelsTest, ChannelsAreStoredWithTheirWebhooks) {
  start_with({email(), hook("https://example.com/a")});
  ASSERT_EQ(memory_.channels.size(), 2u);
  ASSERT_EQ(memory_.webhooks.size(), 1u);
  const Webhook& webhook = memory_.webhooks.begin()->second;
  EXPECT_EQ(webhook.tenant_id, reserved_tenant);
  EXPECT_EQ(webhook.url, "https://example.com/a");
  EXPECT_TRUE(webhook.events.empty());
  EXPECT_FALSE(webhook.secret.reveal().empty());
  for (const auto& [id, channel] : memory_.channels) {
    EXPECT_TRUE(channel.configured);
    EXPECT_EQ(channel.tenant_id, std::nullopt);
  }
  EXPECT_EQ(memory_.audit.size(), 2u);
}

TEST_F(ConfiguredChannelsTest, NothingIsWrittenIfNothingHasChanged) {
  start_with({email(), hook("https://example.com/a")});
  const auto channels = memory_.channels;
  const auto webhooks = memory_.webhooks;
  start_with({email(), hook("https://example.com/a")});
  EXPECT_EQ(memory_.channels, channels);
  EXPECT_EQ(memory_.webhooks, webhooks);
  EXPECT_EQ(memory_.audit.size(), 2u);
}

TEST_F(ConfiguredChannelsTest, AChangeKeepsTheIdsAndTheSecret) {
  start_with({hook("https://example.com/a")});
  const NotificationChannel before = only();
  const Secret<std::string> secret = memory_.webhooks.begin()->second.secret;
  config::ChannelConfig changed = hook("https://example.com/b");
  changed.per_hour_max = 5;
  start_with({changed});
  EXPECT_EQ(only().id, before.id);
  EXPECT_EQ(only().webhook_id, before.webhook_id);
  EXPECT_EQ(only().per_hour_max, 5u);
  EXPECT_GT(only().updated_at, before.updated_at);
  EXPECT_EQ(memory_.webhooks.begin()->second.url, "https://example.com/b");
  EXPECT_EQ(memory_.webhooks.begin()->second.secret, secret);
  changed.secret = Secret{std::string(32, 'k')};
  start_with({changed});
  EXPECT_EQ(memory_.webhooks.begin()->second.secret, *changed.secret);
}

TEST_F(ConfiguredChannelsTest, WhatIsNoLongerConfiguredIsRemoved) {
  NotificationChannel own;
  own.id.bytes[0] = 1;
  ASSERT_TRUE(store_.notifications->put_channel(own));
  start_with({email(), hook("https://example.com/a")});
  EXPECT_EQ(memory_.channels.size(), 3u);
  start_with({});
  EXPECT_EQ(memory_.channels.size(), 1u);
  EXPECT_EQ(only().id, own.id);
  EXPECT_TRUE(memory_.webhooks.empty());
}

TEST_F(ConfiguredChannelsTest, AnotherKindIsAnotherChannel) {
  start_with({hook("https://example.com/a")});
  const ChannelId before = only().id;
  config::ChannelConfig chat = hook("https://example.com/a");
  chat.kind = ChannelKind::slack;
  start_with({chat});
  ASSERT_EQ(memory_.channels.size(), 1u);
  EXPECT_NE(only().id, before);
  EXPECT_EQ(memory_.webhooks.size(), 1u);
  EXPECT_EQ(memory_.webhooks.begin()->second.payload_format, PayloadFormat::raw);
}

}  // namespace
}  // namespace postrider
