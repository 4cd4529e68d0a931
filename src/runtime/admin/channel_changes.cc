// Changes of notification channels. A channel and the webhook that it owns are stored in one
// transaction.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "runtime/admin/admin_changes.h"
#include "runtime/store/idempotent_request.h"

namespace postrider {
namespace {

// A test is sent without the channel's own limit, to whoever the channel names.
constexpr std::ptrdiff_t tests_per_hour_max = 20;

tl::unexpected<Error> no_such_channel() {
  return fail(Errc::not_found, "There is no such notification channel.");
}

Result<ChannelRef> changeable(const ChannelDirectory& channels, ChannelId id) {
  ChannelRef channel = channels.find(id);
  if (!channel) {
    return no_such_channel();
  }
  if (channel->configured) {
    return fail(Errc::conflict,
                "The notification channel comes from the server's settings. Change it there.");
  }
  return channel;
}

}  // namespace

Result<ChannelRef> AdminChanges::add_channel(const ChangeContext& context, OwnedChannel added,
                                             const std::optional<RequestKey>& key) {
  POSTRIDER_CHECK(channels()->check_room(added.channel.tenant_id));
  return store_channel(context, std::move(added), key);
}

Result<ChannelRef> AdminChanges::edit_channel(const ChangeContext& context, ChannelId id,
                                              const ChannelEdit& edit) {
  POSTRIDER_TRY(const ChannelRef current, changeable(*channels(), id));
  OwnedChannel owned{.channel = *current, .webhook = std::nullopt};
  const WebhookRef webhook =
      current->webhook_id ? directory()->find(*current->webhook_id) : nullptr;
  if (webhook) {
    owned.webhook = *webhook;
  }
  POSTRIDER_TRY(OwnedChannel edited, edit(owned));
  return store_channel(context, std::move(edited), std::nullopt);
}

Result<ChannelRef> AdminChanges::store_channel(const ChangeContext& context, OwnedChannel owned,
                                               const std::optional<RequestKey>& key) {
  auto stored = std::make_shared<const NotificationChannel>(std::move(owned.channel));
  const auto put = [&stored](Store& store) { return store.notifications->put_channel(*stored); };
  if (owned.webhook) {
    const ChangeContext together{context.store, context.replies, context.entry, put};
    const bool is_new = !directory()->find(owned.webhook->id);
    POSTRIDER_CHECK(is_new ? add_webhook(together, *std::move(owned.webhook), key)
                           : store_webhook(together, *std::move(owned.webhook), key));
  } else {
    POSTRIDER_CHECK(context.store.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(
          take_request_key(context.store, key, context.entry.subject, context.entry.at));
      POSTRIDER_CHECK(put(context.store));
      return context.store.audit->append(context.entry);
    }));
  }
  channels_.replace(channels()->with(stored));
  return stored;
}

Result<void> AdminChanges::remove_channel(const ChangeContext& context, ChannelId id) {
  POSTRIDER_TRY(const ChannelRef channel, changeable(*channels(), id));
  const auto remove = [id](Store& store) { return store.notifications->remove_channel(id); };
  if (channel->webhook_id && directory()->find(*channel->webhook_id)) {
    const ChangeContext together{context.store, context.replies, context.entry, remove};
    POSTRIDER_CHECK(erase_webhook(together, *channel->webhook_id));
  } else {
    POSTRIDER_CHECK(context.store.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(remove(context.store));
      return context.store.audit->append(context.entry);
    }));
  }
  channels_.replace(channels()->without(id));
  return {};
}

Result<void> AdminChanges::add_test_notification(const ChangeContext& context,
                                                 const Notification& test,
                                                 const std::optional<RequestKey>& key) {
  const ChannelRef channel = channels()->find(test.channel_id);
  if (!channel) {
    return no_such_channel();
  }
  std::erase_if(tests_, [&](const auto& made) {
    return made.second + std::chrono::hours{1} <= context.entry.at;
  });
  const auto recent = std::ranges::count(tests_, channel->id, &MadeTest::first);
  if (recent >= tests_per_hour_max) {
    return fail(Errc::conflict,
                fmt::format("A notification channel can be tested {} times an hour. Try later.",
                            tests_per_hour_max));
  }
  POSTRIDER_CHECK(context.store.atomically([&]() -> Result<void> {
    POSTRIDER_CHECK(take_request_key(context.store, key, test.id.to_string(), context.entry.at));
    POSTRIDER_CHECK(context.store.notifications->add(std::array{test}));
    return context.store.audit->append(context.entry);
  }));
  tests_.emplace_back(channel->id, context.entry.at);
  return {};
}

}  // namespace postrider
