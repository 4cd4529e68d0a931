#include "engine/admin/channel_directory.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace postrider {
namespace {

ChannelId id_of(const ChannelRef& channel) { return channel->id; }

}  // namespace

ChannelDirectory::ChannelDirectory(std::vector<NotificationChannel> channels) {
  for (NotificationChannel& channel : channels) {
    insert(std::make_shared<const NotificationChannel>(std::move(channel)));
  }
}

void ChannelDirectory::insert(ChannelRef channel) {
  const ChannelId id = channel->id;
  std::vector<ChannelRef>& theirs = by_owner_[channel->tenant_id];
  theirs.insert(std::ranges::upper_bound(theirs, id, {}, id_of), channel);
  if (channel->webhook_id) {
    by_webhook_.emplace(*channel->webhook_id, id);
  }
  channels_.emplace(id, std::move(channel));
}

ChannelDirectory ChannelDirectory::with(ChannelRef channel) const {
  ChannelDirectory changed = without(channel->id);
  changed.insert(std::move(channel));
  return changed;
}

ChannelDirectory ChannelDirectory::without(ChannelId id) const {
  ChannelDirectory changed = *this;
  const ChannelRef removed = find(id);
  if (!removed) {
    return changed;
  }
  changed.channels_.erase(id);
  const auto owner = changed.by_owner_.find(removed->tenant_id);
  std::erase(owner->second, removed);
  if (owner->second.empty()) {
    changed.by_owner_.erase(owner);
  }
  if (removed->webhook_id) {
    changed.by_webhook_.erase(*removed->webhook_id);
  }
  return changed;
}

ChannelDirectory ChannelDirectory::without_tenant(const TenantId& tenant_id) const {
  ChannelDirectory changed = *this;
  for (const ChannelRef& channel : of(tenant_id)) {
    changed = changed.without(channel->id);
  }
  return changed;
}

ChannelDirectory ChannelDirectory::only(const TenantId& tenant_id) const {
  ChannelDirectory theirs;
  for (const ChannelRef& channel : of(tenant_id)) {
    theirs.insert(channel);
  }
  return theirs;
}

ChannelRef ChannelDirectory::find(ChannelId id) const {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : found->second;
}

ChannelRef ChannelDirectory::owner_of_webhook(WebhookId id) const {
  const auto found = by_webhook_.find(id);
  return found == by_webhook_.end() ? nullptr : find(found->second);
}

const std::vector<ChannelRef>& ChannelDirectory::of(
    const std::optional<TenantId>& tenant_id) const {
  static const std::vector<ChannelRef> none;
  const auto found = by_owner_.find(tenant_id);
  return found == by_owner_.end() ? none : found->second;
}

Result<void> ChannelDirectory::check_room(const std::optional<TenantId>& tenant_id) const {
  if (of(tenant_id).size() >= channels_per_owner_max) {
    return fail(Errc::conflict, fmt::format("The limit of {} notification channels is reached; "
                                            "delete one first.",
                                            channels_per_owner_max));
  }
  if (channels_.size() >= channels_max) {
    return fail(Errc::conflict, fmt::format("The server has {} notification channels already, "
                                            "which is the limit.",
                                            channels_max));
  }
  return {};
}

}  // namespace postrider
