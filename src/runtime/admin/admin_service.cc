#include "runtime/admin/admin_service.h"

#include "runtime/store/idempotent_request.h"

namespace postrider {

Awaitable<Result<WebhookRef>> AdminService::add_webhook(Webhook webhook, AuditEntry entry) {
  return make_on_store_thread<WebhookRef>(std::move(entry),
                                          [this, webhook](const ChangeContext& context) {
                                            return changes_.add_webhook(context, webhook);
                                          });
}

Awaitable<Result<WebhookRef>> AdminService::edit_webhook(WebhookId id, WebhookEdit edit,
                                                         AuditEntry entry) {
  return make_on_store_thread<WebhookRef>(std::move(entry),
                                          [this, id, edit](const ChangeContext& context) {
                                            return changes_.edit_webhook(context, id, edit);
                                          });
}

Awaitable<Result<void>> AdminService::remove_webhook(WebhookId id, AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [this, id](const ChangeContext& context) {
    return changes_.remove_webhook(context, id);
  });
}

Awaitable<Result<EventTypeRef>> AdminService::change_event_type(std::string name,
                                                                EventTypeEdit edit,
                                                                AuditEntry entry) {
  return make_on_store_thread<EventTypeRef>(
      std::move(entry), [this, name, edit](const ChangeContext& context) {
        return event_types_.change(context.store, name, edit, context.entry);
      });
}

Awaitable<Result<void>> AdminService::change_registry(RegistryChange change, AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [this, change](const ChangeContext& context) {
    return changes_.change_registry(context, change);
  });
}

Awaitable<Result<void>> AdminService::remove_tenant(TenantId id, bool force, AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [this, id, force](const ChangeContext& context) {
    return changes_.remove_tenant(context, id, force);
  });
}

Awaitable<Result<void>> AdminService::note(AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [](const ChangeContext& context) {
    return context.store.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(take_request_key(context.store, context.entry));
      return context.store.audit->append(context.entry);
    });
  });
}

}  // namespace postrider
