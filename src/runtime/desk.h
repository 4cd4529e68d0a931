// Where people's changes are made: webhooks, keys and tenants, each stored together with its entry
// in the audit log, then put into the snapshots that everyone reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

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
  [[nodiscard]] Result<void> remove_webhook(const Errand& errand, WebhookId id);
  [[nodiscard]] Result<void> change_registry(const Errand& errand, const RegistryChange& change);
  [[nodiscard]] Result<void> remove_tenant(const Errand& errand, const TenantId& id, bool force);

  /// Writes down when keys were used last. No entry: nobody changed anything.
  [[nodiscard]] Result<void> write_key_uses(Store& store) const;

 private:
  Result<WebhookRef> store_webhook(const Errand& errand, Webhook webhook);

  Snapshot<Directory> directory_;
  Snapshot<Roster> roster_;
};

[[nodiscard]] Directory make_directory(std::vector<Webhook> webhooks);

/// What the server tells the audit log when it disables a webhook by itself.
[[nodiscard]] AuditEntry disable_entry(const Webhook& webhook, const std::string& reason,
                                       WallTime now);

}  // namespace postrider
