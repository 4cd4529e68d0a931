// Where people's changes are made: webhooks, keys and tenants, each stored together with its entry
// in the audit log, then put into the snapshots that everyone reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "engine/intake/directory.h"
#include "ports/audit.h"
#include "ports/store.h"

#include "runtime/admin/access_snapshot.h"
#include "runtime/admin/service.h"
#include "runtime/store/snapshot.h"
#include "runtime/store/store_thread.h"

namespace postrider {

/// One change on its way: who wants it and when (`entry`), and what it is made with.
struct ChangeContext {
  Store& store;
  RepliesByShard& replies;
  const AuditEntry& entry;
};

/// The snapshots are for any thread, the changes for the store thread. Each is one transaction:
/// when it fails, nothing has happened.
class AdminChanges {
 public:
  AdminChanges(Directory directory, AccessSnapshot access);

  [[nodiscard]] std::shared_ptr<const Directory> directory() const { return directory_.get(); }
  [[nodiscard]] std::shared_ptr<const AccessSnapshot> access() const { return access_.get(); }

  // See Service for what these fail with.
  [[nodiscard]] Result<WebhookRef> add_webhook(const ChangeContext& context, Webhook webhook);
  [[nodiscard]] Result<WebhookRef> edit_webhook(const ChangeContext& context, WebhookId id,
                                                const Service::WebhookEdit& edit);
  /// Cancels the first of what waits for it, too; the rest is left to who watches (farewells.h).
  [[nodiscard]] Result<void> remove_webhook(const ChangeContext& context, WebhookId id);
  [[nodiscard]] Result<void> change_registry(const ChangeContext& context,
                                             const RegistryChange& change);
  [[nodiscard]] Result<void> remove_tenant(const ChangeContext& context, const TenantId& id,
                                           bool force);

  // What the server does by itself is in the audit log as well.

  struct SystemChange {
    Store& store;
    RepliesByShard& replies;
  };
  /// One that is not active any more stays as it is.
  [[nodiscard]] Result<void> disable_webhook(const SystemChange& context, WebhookId id,
                                             const std::string& reason, WallTime now);
  /// Stores the webhook without the old secrets that have ended.
  [[nodiscard]] Result<void> sweep_secrets(const SystemChange& context, Webhook swept,
                                           WallTime now);

  /// Who wants to know what became of webhooks. On the store thread, once it is stored.
  struct Watchers {
    std::function<void(const Webhook&)> stored;
    std::function<void(WebhookId)> removed;
    /// So many deliveries waited for it, and are cancelled; there may be more.
    std::function<void(std::uint32_t)> cancelled = [](std::uint32_t) {};
  };
  /// Before anything is changed.
  void watch(Watchers watchers) { watchers_ = std::move(watchers); }

  /// Writes down when keys were used last. No entry: nobody changed anything.
  [[nodiscard]] Result<void> write_key_uses(Store& store) const;

 private:
  Result<WebhookRef> store_webhook(const ChangeContext& context, Webhook webhook);
  void notify_removed(RepliesByShard& replies, WebhookId id) const;

  Snapshot<Directory> directory_;
  Snapshot<AccessSnapshot> access_;
  Watchers watchers_{.stored = [](const Webhook&) {}, .removed = [](WebhookId) {}};
};

}  // namespace postrider
