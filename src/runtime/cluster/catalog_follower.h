// Keeps what this server has in memory of the catalogue up to date with what other servers on the
// same store change: webhooks, keys, tenants, event types, notification channels, operations.
//
// Store thread only unless noted.
#pragma once

#include <atomic>
#include <functional>

#include "core/base/result.h"
#include "core/model/catalog_version.h"
#include "ports/schema_check.h"
#include "ports/store.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider {

/// Is told of changes that the follower does not apply itself. Called on the store thread.
class CatalogObserver {
 public:
  virtual void operations_changed() = 0;
  /// Called after AdminChanges has applied them and the webhooks that changed with them.
  virtual void access_changed(Store& store, RepliesByShard& replies) = 0;

 protected:
  ~CatalogObserver() = default;
};

class CatalogFollower {
 public:
  /// All of them must outlive this object.
  struct Parts {
    AdminChanges* changes = nullptr;
    EventTypeChanges* event_types = nullptr;
    MakeSchemaCheck make_schema_check;
    CatalogObserver* observer = nullptr;
  };

  /// `seen`: the version before everything was loaded.
  CatalogFollower(CatalogVersion seen, Parts parts) : parts_(std::move(parts)), seen_(seen) {}

  /// The version that was applied last. Snapshots read after this call are not older. Any thread.
  [[nodiscard]] CatalogVersion seen() const { return seen_.load(std::memory_order_acquire); }

  /// Applies what has changed since the last call. Lanes learn of it through `replies`.
  [[nodiscard]] Result<void> catch_up(Store& store, RepliesByShard& replies);

  /// Runs `change`, a change by this server, on an up-to-date catalogue. `change` must store with
  /// Store::atomically, which fails with conflict if another server has changed the catalogue
  /// since. `change` is then called again.
  [[nodiscard]] Result<void> change(Store& store, RepliesByShard& replies,
                                    const std::function<Result<void>()>& change);

  /// Replaces Store::atomically: within `change` it checks that the catalogue is the one that was
  /// seen. Call once, before the store is used. The follower must outlive the store.
  void guard(Store& store);

 private:
  [[nodiscard]] Result<void> apply(const CatalogChanges& changes, Store& store,
                                   RepliesByShard& replies);
  [[nodiscard]] Result<void> apply(CatalogPart part, Store& store, RepliesByShard& replies);
  [[nodiscard]] Result<void> reload_webhooks(Store& store, RepliesByShard& replies);
  [[nodiscard]] Result<void> reload_webhook(WebhookId id, Store& store, RepliesByShard& replies);
  [[nodiscard]] Result<void> check_unchanged(Peers& peers);

  Parts parts_;
  std::atomic<CatalogVersion> seen_;
  bool changing_ = false;  // Within `change`.
  bool outrun_ = false;    // Another server has changed the catalogue meanwhile.
  int depth_ = 0;          // Of nested transactions.
};

}  // namespace postrider
