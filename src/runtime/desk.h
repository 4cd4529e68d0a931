// Where people's changes are made: webhooks, keys and tenants, each stored together with its entry
// in the audit log, then put into the snapshots that everyone reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/result.h"
#include "engine/directory.h"
#include "ports/journal.h"
#include "ports/store.h"

#include "runtime/roster.h"
#include "runtime/service.h"
#include "runtime/snapshot.h"
#include "runtime/store_thread.h"

namespace postrider {

/// One change on its way: who wants it and when (`entry`), and what it is made with.
struct Errand {
  Store& store;
  Mails& mails;
  const AuditEntry& entry;
};

/// The snapshots are for any thread, the changes for the store thread. Each is one transaction:
/// when it fails, nothing has happened.
class Desk {
 public:
  Desk(Directory directory, Roster roster);

  [[nodiscard]] std::shared_ptr<const Directory> directory() const { return directory_.get(); }
  [[nodiscard]] std::shared_ptr<const Roster> roster() const { return roster_.get(); }

  // See Service for what these fail with.
  [[nodiscard]] Result<WebhookRef> add_webhook(const Errand& errand, Webhook webhook);
  [[nodiscard]] Result<WebhookRef> edit_webhook(const Errand& errand, WebhookId id,
                                                const Service::WebhookEdit& edit);
  /// Cancels the first of what waits for it, too; the rest is left to who watches (farewells.h).
  [[nodiscard]] Result<void> remove_webhook(const Errand& errand, WebhookId id);
  [[nodiscard]] Result<void> change_registry(const Errand& errand, const RegistryChange& change);
  [[nodiscard]] Result<void> remove_tenant(const Errand& errand, const TenantId& id, bool force);

  // What the server does by itself is in the audit log as well.

  struct OwnErrand {
    Store& store;
    Mails& mails;
  };
  /// One that is not active any more stays as it is.
  [[nodiscard]] Result<void> disable_webhook(const OwnErrand& errand, WebhookId id,
                                             const std::string& reason, WallTime now);
  /// Stores the webhook without the old secrets that have ended.
  [[nodiscard]] Result<void> sweep_secrets(const OwnErrand& errand, Webhook swept, WallTime now);

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
  Result<WebhookRef> store_webhook(const Errand& errand, Webhook webhook);
  void tell_removed(Mails& mails, WebhookId id) const;

  Snapshot<Directory> directory_;
  Snapshot<Roster> roster_;
  Watchers watchers_{.stored = [](const Webhook&) {}, .removed = [](WebhookId) {}};
};

}  // namespace postrider
