#include "runtime/desk_service.h"

#include "runtime/once.h"

namespace postrider {

Awaitable<Result<WebhookRef>> DeskService::add_webhook(Webhook webhook, AuditEntry entry) {
  return made_at_desk<WebhookRef>(std::move(entry), [this, webhook](const Errand& errand) {
    return desk_.add_webhook(errand, webhook);
  });
}

Awaitable<Result<WebhookRef>> DeskService::edit_webhook(WebhookId id, WebhookEdit edit,
                                                        AuditEntry entry) {
  return made_at_desk<WebhookRef>(std::move(entry), [this, id, edit](const Errand& errand) {
    return desk_.edit_webhook(errand, id, edit);
  });
}

Awaitable<Result<void>> DeskService::remove_webhook(WebhookId id, AuditEntry entry) {
  return at_desk(std::move(entry),
                 [this, id](const Errand& errand) { return desk_.remove_webhook(errand, id); });
}

Awaitable<Result<EventTypeRef>> DeskService::change_event_type(std::string name, EventTypeEdit edit,
                                                               AuditEntry entry) {
  return made_at_desk<EventTypeRef>(std::move(entry), [this, name, edit](const Errand& errand) {
    return event_types_.change(errand.store, name, edit, errand.entry);
  });
}

Awaitable<Result<void>> DeskService::change_registry(RegistryChange change, AuditEntry entry) {
  return at_desk(std::move(entry), [this, change](const Errand& errand) {
    return desk_.change_registry(errand, change);
  });
}

Awaitable<Result<void>> DeskService::remove_tenant(TenantId id, bool force, AuditEntry entry) {
  return at_desk(std::move(entry), [this, id, force](const Errand& errand) {
    return desk_.remove_tenant(errand, id, force);
  });
}

Awaitable<Result<void>> DeskService::note(AuditEntry entry) {
  return at_desk(std::move(entry), [](const Errand& errand) {
    return errand.store.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(take_request_key(errand.store, errand.entry));
      return errand.store.journal->append(errand.entry);
    });
  });
}

}  // namespace postrider
