// Applies changes of webhooks, keys, tenants and notification channels. Each is stored together
// with its audit entry, then published in the snapshots that all threads read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "engine/admin/access_snapshot.h"
#include "engine/admin/channel_directory.h"
#include "engine/intake/directory.h"
#include "ports/audit.h"
#include "ports/store.h"

#include "runtime/admin/service.h"
#include "runtime/store/snapshot.h"
#include "runtime/store/store_thread.h"

namespace postrider {

/// What one change is made with. `entry` names its author and time.
struct ChangeContext {
  Store& store;
  RepliesByShard& replies;
  const AuditEntry& entry;
  /// Stored in the same transaction, when a webhook is added, edited or removed. May be empty.
  std::function<Result<void>(Store&)> also = {};
};

/// Learns what happened to webhooks, once it is stored. Called on the store thread.
class WebhookObserver {
 public:
  virtual void webhook_stored(const Webhook& webhook) = 0;
  virtual void webhook_removed(WebhookId id) = 0;
  /// Deliveries that waited for removed webhooks are cancelled. More may follow.
  virtual void deliveries_cancelled(const TenantCounts& cancelled) = 0;

 protected:
  ~WebhookObserver() = default;
};

/// Any thread may read the snapshots; changes are for the store thread. Each change is one
/// transaction: if it fails, nothing has changed.
class AdminChanges {
 public:
  AdminChanges(Directory directory, AccessSnapshot access, ChannelDirectory channels);

  [[nodiscard]] std::shared_ptr<const Directory> directory() const { return directory_.get(); }
  [[nodiscard]] std::shared_ptr<const AccessSnapshot> access() const { return access_.get(); }
  [[nodiscard]] std::shared_ptr<const ChannelDirectory> channels() const { return channels_.get(); }

  // The interfaces in service.h list the errors. `key` is the request's idempotency key, if any.
  [[nodiscard]] Result<WebhookRef> add_webhook(const ChangeContext& context, Webhook webhook,
                                               const std::optional<RequestKey>& key);
  [[nodiscard]] Result<WebhookRef> edit_webhook(const ChangeContext& context, WebhookId id,
                                                const WebhookEdit& edit,
                                                const std::optional<RequestKey>& key);
  /// Removes the webhook's `force_open_until`, because a user commands its circuit. The lane ends a
  /// state that was forced by it.
  [[nodiscard]] Result<void> end_forced_opening(const ChangeContext& context, WebhookId id);
  /// Also cancels the first waiting deliveries; RemovedWebhookCleanup cancels the rest.
  [[nodiscard]] Result<void> remove_webhook(const ChangeContext& context, WebhookId id);
  [[nodiscard]] Result<void> change_registry(const ChangeContext& context,
                                             const RegistryChange& change,
                                             const std::optional<RequestKey>& key);
  [[nodiscard]] Result<void> remove_tenant(const ChangeContext& context, const TenantId& id,
                                           bool force);

  // Notification channels; see channel_changes.cc.
  [[nodiscard]] Result<ChannelRef> add_channel(const ChangeContext& context, OwnedChannel added,
                                               const std::optional<RequestKey>& key);
  [[nodiscard]] Result<ChannelRef> edit_channel(const ChangeContext& context, ChannelId id,
                                                const ChannelEdit& edit);
  [[nodiscard]] Result<void> remove_channel(const ChangeContext& context, ChannelId id);
  [[nodiscard]] Result<void> add_test_notification(const ChangeContext& context,
                                                   const Notification& test,
                                                   const std::optional<RequestKey>& key);

  // Changes that the server makes by itself. They are audited as well.

  struct SystemChange {
    Store& store;
    RepliesByShard& replies;
  };
  /// Does nothing if the webhook is not active.
  [[nodiscard]] Result<void> disable_webhook(const SystemChange& context, WebhookId id,
                                             const std::string& reason, WallTime now);
  /// Stores `swept`: the webhook without its expired secrets.
  [[nodiscard]] Result<void> sweep_secrets(const SystemChange& context, Webhook swept,
                                           WallTime now);

  // What another server on the same store has changed. It is stored and audited already. See
  // taken_changes.cc.

  /// Does nothing if the webhook is known as it is.
  void take_webhook(RepliesByShard& replies, Webhook webhook);
  void drop_webhook(RepliesByShard& replies, WebhookId id);
  void take_access(RepliesByShard& replies, AccessSnapshot access);
  void take_channels(ChannelDirectory channels);

  /// Call before the first change. The most webhooks of a tenant without its own limit; nullopt:
  /// unlimited.
  void limit_webhooks(std::optional<std::uint32_t> per_tenant_max) {
    webhooks_per_tenant_max_ = per_tenant_max;
  }

  /// Call before the first change. `observer` must outlive this object.
  void observe(WebhookObserver& observer) { observer_ = &observer; }

  /// Stores when keys were last used. Not audited: it is not a change.
  [[nodiscard]] Result<void> write_key_uses(Store& store) const;

 private:
  Result<WebhookRef> store_webhook(const ChangeContext& context, Webhook webhook,
                                   const std::optional<RequestKey>& key);
  Result<ChannelRef> store_channel(const ChangeContext& context, OwnedChannel owned,
                                   const std::optional<RequestKey>& key);
  /// Removes the webhook whether a channel owns it or not.
  Result<void> erase_webhook(const ChangeContext& context, WebhookId id);
  void notify_removed(RepliesByShard& replies, WebhookId id) const;

  Snapshot<Directory> directory_;
  Snapshot<AccessSnapshot> access_;
  Snapshot<ChannelDirectory> channels_;
  using MadeTest = std::pair<ChannelId, WallTime>;
  std::vector<MadeTest> tests_;  // Of channels, in the last hour.
  std::optional<std::uint32_t> webhooks_per_tenant_max_;
  WebhookObserver* observer_ = nullptr;  // May be null.
};

}  // namespace postrider
