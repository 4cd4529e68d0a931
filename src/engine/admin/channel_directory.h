// The notification channels: an immutable snapshot, replaced as a whole when a channel changes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/notification_channel.h"

namespace postrider {

using ChannelRef = std::shared_ptr<const NotificationChannel>;

// Each change copies the table of pointers.
constexpr std::size_t channels_max = 10'000;
// Bounds the notifications that one change of an alert makes.
constexpr std::size_t channels_per_owner_max = 20;

class ChannelDirectory {
 public:
  ChannelDirectory() = default;
  explicit ChannelDirectory(std::vector<NotificationChannel> channels);

  // These return a copy.

  /// Adds or replaces `channel`, whose owner does not change.
  [[nodiscard]] ChannelDirectory with(ChannelRef channel) const;
  [[nodiscard]] ChannelDirectory without(ChannelId id) const;
  [[nodiscard]] ChannelDirectory without_tenant(const TenantId& tenant_id) const;
  /// Restricts the directory to the channels of one tenant.
  [[nodiscard]] ChannelDirectory only(const TenantId& tenant_id) const;

  [[nodiscard]] ChannelRef find(ChannelId id) const;  // Null if there is none.
  /// The channel that owns the webhook. Null if there is none.
  [[nodiscard]] ChannelRef owner_of_webhook(WebhookId id) const;

  /// The channels of a tenant, or with nullopt those of the server, in id order.
  [[nodiscard]] const std::vector<ChannelRef>& of(const std::optional<TenantId>& tenant_id) const;

  /// Fails with conflict if `tenant_id` may not have a further channel.
  [[nodiscard]] Result<void> check_room(const std::optional<TenantId>& tenant_id) const;

  [[nodiscard]] const std::map<ChannelId, ChannelRef>& all() const { return channels_; }

 private:
  /// There is none with this id.
  void insert(ChannelRef channel);

  std::map<ChannelId, ChannelRef> channels_;
  std::map<std::optional<TenantId>, std::vector<ChannelRef>> by_owner_;
  std::map<WebhookId, ChannelId> by_webhook_;
};

}  // namespace postrider
