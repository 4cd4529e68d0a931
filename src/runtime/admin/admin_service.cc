#include "runtime/admin/admin_service.h"

namespace postrider {

Awaitable<Result<WebhookRef>> AdminService::add_webhook(Webhook webhook, AuditEntry entry,
                                                        std::optional<RequestKey> key) {
  return make_on_store_thread<WebhookRef>(std::move(entry),
                                          [this, webhook, key](const ChangeContext& context) {
                                            return changes_.add_webhook(context, webhook, key);
                                          });
}

Awaitable<Result<WebhookRef>> AdminService::edit_webhook(WebhookId id, WebhookEdit edit,
                                                         AuditEntry entry,
                                                         std::optional<RequestKey> key) {
  return make_on_store_thread<WebhookRef>(std::move(entry),
                                          [this, id, edit, key](const ChangeContext& context) {
                                            return changes_.edit_webhook(context, id, edit, key);
                                          });
}

Awaitable<Result<void>> AdminService::remove_webhook(WebhookId id, AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [this, id](const ChangeContext& context) {
    return changes_.remove_webhook(context, id);
  });
}

Awaitable<Result<EventTypeRef>> AdminService::change_event_type(std::string name,
                                                                EventTypeEdit edit,
                                                                AuditEntry entry,
                                                                std::optional<RequestKey> key) {
  return make_on_store_thread<EventTypeRef>(
      std::move(entry), [this, name, edit, key](const ChangeContext& context) {
        return event_types_.change(context.store, {name, edit}, context.entry, key);
      });
}

Awaitable<Result<void>> AdminService::change_registry(RegistryChange change, AuditEntry entry,
                                                      std::optional<RequestKey> key) {
  return run_on_store_thread(std::move(entry), [this, change, key](const ChangeContext& context) {
    return changes_.change_registry(context, change, key);
  });
}

Awaitable<Result<void>> AdminService::remove_tenant(TenantId id, bool force, AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [this, id, force](const ChangeContext& context) {
    return changes_.remove_tenant(context, id, force);
  });
}

Awaitable<Result<ChannelRef>> AdminService::add_channel(OwnedChannel added, AuditEntry entry,
                                                        std::optional<RequestKey> key) {
  return make_on_store_thread<ChannelRef>(std::move(entry),
                                          [this, added, key](const ChangeContext& context) {
                                            return changes_.add_channel(context, added, key);
                                          });
}

Awaitable<Result<ChannelRef>> AdminService::edit_channel(ChannelId id, ChannelEdit edit,
                                                         AuditEntry entry) {
  return make_on_store_thread<ChannelRef>(std::move(entry),
                                          [this, id, edit](const ChangeContext& context) {
                                            return changes_.edit_channel(context, id, edit);
                                          });
}

Awaitable<Result<void>> AdminService::remove_channel(ChannelId id, AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [this, id](const ChangeContext& context) {
    return changes_.remove_channel(context, id);
  });
}

Awaitable<Result<Notification>> AdminService::send_test_notification(
    Notification test, AuditEntry entry, std::optional<RequestKey> key) {
  return make_on_store_thread<Notification>(
      std::move(entry), [this, test, key](const ChangeContext& context) -> Result<Notification> {
        POSTRIDER_CHECK(changes_.add_test_notification(context, test, key));
        return test;
      });
}

Awaitable<Result<void>> AdminService::append_audit(AuditEntry entry) {
  return run_on_store_thread(std::move(entry), [](const ChangeContext& context) {
    return context.store.audit->append(context.entry);
  });
}

}  // namespace postrider
