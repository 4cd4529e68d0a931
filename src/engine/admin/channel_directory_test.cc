#include "engine/admin/channel_directory.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

NotificationChannel channel(std::uint8_t number, std::optional<TenantId> tenant_id) {
  NotificationChannel made;
  made.id.bytes[0] = number;
  made.tenant_id = std::move(tenant_id);
  made.name = "first";
  return made;
}

ChannelRef ref(NotificationChannel channel) {
  return std::make_shared<const NotificationChannel>(std::move(channel));
}

TEST(ChannelDirectory, ChannelsAreFoundByIdOwnerAndWebhook) {
  NotificationChannel chat = channel(2, "acme");
  chat.kind = ChannelKind::slack;
  chat.webhook_id = WebhookId{.bytes = {7}};
  const ChannelDirectory directory{{channel(3, "acme"), channel(1, std::nullopt), chat}};

  EXPECT_EQ(directory.all().size(), 3u);
  EXPECT_EQ(directory.find(chat.id)->webhook_id, chat.webhook_id);
  EXPECT_EQ(directory.find(ChannelId{.bytes = {9}}), nullptr);
  EXPECT_EQ(directory.owner_of_webhook(*chat.webhook_id)->id, chat.id);
  EXPECT_EQ(directory.owner_of_webhook(WebhookId{.bytes = {8}}), nullptr);
  ASSERT_EQ(directory.of("acme").size(), 2u);
  EXPECT_EQ(directory.of("acme").front()->id, chat.id);  // In id order.
  ASSERT_EQ(directory.of(std::nullopt).size(), 1u);
  EXPECT_TRUE(directory.of("").empty());  // The default tenant is not the server.
  EXPECT_EQ(directory.only("acme").all().size(), 2u);
  EXPECT_TRUE(directory.only("other").all().empty());
}

TEST(ChannelDirectory, AReplacedChannelIsThereOnce) {
  const ChannelDirectory before{{channel(1, "acme"), channel(2, "acme")}};
  NotificationChannel changed = channel(1, "acme");
  changed.name = "second";
  const ChannelDirectory after = before.with(ref(changed));
  EXPECT_EQ(after.all().size(), 2u);
  ASSERT_EQ(after.of("acme").size(), 2u);
  EXPECT_EQ(after.of("acme").front()->name, "second");
  EXPECT_EQ(before.find(changed.id)->name, "first");
}

TEST(ChannelDirectory, ARemovedChannelIsNotFound) {
  NotificationChannel chat = channel(1, std::nullopt);
  chat.webhook_id = WebhookId{.bytes = {7}};
  const ChannelDirectory after = ChannelDirectory{{chat}}.without(chat.id);
  EXPECT_TRUE(after.all().empty());
  EXPECT_TRUE(after.of(std::nullopt).empty());
  EXPECT_EQ(after.owner_of_webhook(*chat.webhook_id), nullptr);
  EXPECT_TRUE(after.without(chat.id).all().empty());
}

TEST(ChannelDirectory, TheChannelsOfATenantAreRemovedTogether) {
  const ChannelDirectory before{
      {channel(1, "acme"), channel(2, "acme"), channel(3, std::nullopt), channel(4, "other")}};
  const ChannelDirectory after = before.without_tenant("acme");
  EXPECT_EQ(after.all().size(), 2u);
  EXPECT_TRUE(after.of("acme").empty());
  EXPECT_EQ(after.of("other").size(), 1u);
}

TEST(ChannelDirectory, AnOwnerHasALimitedNumberOfChannels) {
  ChannelDirectory directory;
  for (std::size_t number = 0; number < channels_per_owner_max; ++number) {
    EXPECT_TRUE(directory.check_room("acme"));
    directory = directory.with(ref(channel(static_cast<std::uint8_t>(number), "acme")));
  }
  EXPECT_EQ(directory.check_room("acme").error().code, Errc::conflict);
  EXPECT_TRUE(directory.check_room("other"));
  EXPECT_TRUE(directory.check_room(std::nullopt));
}

}  // namespace
}  // namespace postrider
