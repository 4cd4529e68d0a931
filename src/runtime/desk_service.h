// The part of Service that is the same wherever the desk stands: what it shows, and the changes
// that are made at it. Where a change is carried out is left to whoever owns the store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/desk.h"
#include "runtime/event_type_book.h"
#include "runtime/publish_quota.h"
#include "runtime/service.h"

namespace postrider {

class DeskService : public Service {
 public:
  std::shared_ptr<const Directory> directory() const override { return desk_.directory(); }
  std::shared_ptr<const Roster> roster() const override { return desk_.roster(); }
  std::shared_ptr<const EventTypeBook> event_types() const override { return event_types_.book(); }
  QuotaWait take_quota(const EventCounts& counts) override {
    return quota_.try_take(*desk_.roster(), counts, now().mono);
  }
  Awaitable<Result<WebhookRef>> add_webhook(Webhook webhook, AuditEntry entry) override;
  Awaitable<Result<WebhookRef>> edit_webhook(WebhookId id, WebhookEdit edit,
                                             AuditEntry entry) override;
  Awaitable<Result<void>> remove_webhook(WebhookId id, AuditEntry entry) override;
  Awaitable<Result<EventTypeRef>> change_event_type(std::string name, EventTypeEdit edit,
                                                    AuditEntry entry) override;
  Awaitable<Result<void>> change_registry(RegistryChange change, AuditEntry entry) override;
  Awaitable<Result<void>> remove_tenant(TenantId id, bool force, AuditEntry entry) override;
  Awaitable<Result<void>> note(AuditEntry entry) override;

 protected:
  DeskService(Directory directory, Roster roster, EventTypeBook event_types)
      : desk_(std::move(directory), std::move(roster)), event_types_(std::move(event_types)) {}

  /// Carries `change` out where the store is written, once, and resumes with what came of it.
  using Change = std::function<Result<void>(const Errand&)>;
  virtual Awaitable<Result<void>> at_desk(AuditEntry entry, Change change) = 0;

  /// The same of a change that makes something.
  template <class T>
  Awaitable<Result<T>> made_at_desk(AuditEntry entry, std::function<Result<T>(const Errand&)> make);

  Desk desk_;
  EventTypeDesk event_types_;

 private:
  PublishQuota quota_;
};

template <class T>
Awaitable<Result<T>> DeskService::made_at_desk(AuditEntry entry,
                                               std::function<Result<T>(const Errand&)> make) {
  // Shared: when the server ends, the change may be carried out after this coroutine is gone.
  const auto made = std::make_shared<std::optional<T>>();
  Change change = [made, make = std::move(make)](const Errand& errand) -> Result<void> {
    POSTRIDER_TRY(*made, make(errand));
    return {};
  };
  auto pending = at_desk(std::move(entry), std::move(change));
  const Result<void> done = co_await std::move(pending);
  if (!done) {
    co_return tl::make_unexpected(done.error());
  }
  co_return *std::move(*made);
}

}  // namespace postrider
