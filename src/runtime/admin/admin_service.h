// The part of Service that the node and the tests share: snapshots and administrative changes. A
// derived class decides on which thread a change runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/admin/admin_changes.h"
#include "runtime/admin/service.h"
#include "runtime/limits/shared_publish_quota.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider {

class AdminService : public Service {
 public:
  std::shared_ptr<const Directory> directory() const override { return changes_.directory(); }
  std::shared_ptr<const AccessSnapshot> access() const override { return changes_.access(); }
  std::map<KeyId, KeyRef> api_keys() const override { return access()->keys(); }
  std::shared_ptr<const EventTypeCatalog> event_types() const override {
    return event_types_.catalog();
  }
  std::shared_ptr<const ChannelDirectory> channels() const override { return changes_.channels(); }
  bool is_shared() const override { return false; }
  Awaitable<void> catch_up() override { co_return; }
  std::optional<ClusterStatus> cluster() const override { return std::nullopt; }
  QuotaWait take_quota(const EventCounts& counts) override {
    return quota_.try_take(*changes_.access(), counts, now().mono);
  }
  Awaitable<Result<WebhookRef>> add_webhook(Webhook webhook, AuditEntry entry,
                                            std::optional<RequestKey> key) override;
  Awaitable<Result<WebhookRef>> edit_webhook(WebhookId id, WebhookEdit edit, AuditEntry entry,
                                             std::optional<RequestKey> key) override;
  Awaitable<Result<void>> remove_webhook(WebhookId id, AuditEntry entry) override;
  Awaitable<Result<EventTypeRef>> change_event_type(std::string name, EventTypeEdit edit,
                                                    AuditEntry entry,
                                                    std::optional<RequestKey> key) override;
  Awaitable<Result<void>> change_registry(RegistryChange change, AuditEntry entry,
                                          std::optional<RequestKey> key) override;
  Awaitable<Result<void>> remove_tenant(TenantId id, bool force, AuditEntry entry) override;
  Awaitable<Result<ChannelRef>> add_channel(OwnedChannel added, AuditEntry entry,
                                            std::optional<RequestKey> key) override;
  Awaitable<Result<ChannelRef>> edit_channel(ChannelId id, ChannelEdit edit,
                                             AuditEntry entry) override;
  Awaitable<Result<void>> remove_channel(ChannelId id, AuditEntry entry) override;
  /// Stores the test and returns it as it waits. A derived class waits for its outcome.
  Awaitable<Result<Notification>> send_test_notification(Notification test, AuditEntry entry,
                                                         std::optional<RequestKey> key) override;
  Awaitable<Result<void>> record_read(AuditEntry entry) override {
    return append_audit(std::move(entry));
  }

 protected:
  /// What the store contains.
  struct Contents {
    Directory directory = {};
    AccessSnapshot access = {};
    EventTypeCatalog event_types = {};
    ChannelDirectory channels = {};
  };
  explicit AdminService(Contents contents)
      : changes_(std::move(contents.directory), std::move(contents.access),
                 std::move(contents.channels)),
        event_types_(std::move(contents.event_types)) {}

  /// Runs `change` once on the thread that writes the store; resumes with its result.
  using Change = std::function<Result<void>(const ChangeContext&)>;
  virtual Awaitable<Result<void>> run_on_store_thread(AuditEntry entry, Change change) = 0;

  /// The same for a change that returns a value.
  template <class T>
  Awaitable<Result<T>> make_on_store_thread(AuditEntry entry,
                                            std::function<Result<T>(const ChangeContext&)> make);

  /// Appends an entry whose change is made elsewhere.
  Awaitable<Result<void>> append_audit(AuditEntry entry);

  AdminChanges changes_;
  EventTypeChanges event_types_;

 private:
  SharedPublishQuota quota_;
};

template <class T>
Awaitable<Result<T>> AdminService::make_on_store_thread(
    AuditEntry entry, std::function<Result<T>(const ChangeContext&)> make) {
  // Shared: at shutdown the change may run after this coroutine was destroyed.
  const auto made = std::make_shared<std::optional<T>>();
  Change change = [made, make = std::move(make)](const ChangeContext& context) -> Result<void> {
    POSTRIDER_TRY(*made, make(context));
    return {};
  };
  auto pending = run_on_store_thread(std::move(entry), std::move(change));
  const Result<void> done = co_await std::move(pending);
  if (!done) {
    co_return tl::make_unexpected(done.error());
  }
  co_return *std::move(*made);
}

}  // namespace postrider
