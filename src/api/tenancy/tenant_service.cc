#include "api/tenancy/tenant_service.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/tenancy/tenant_history.h"
#include "api/tenancy/tenant_notifications.h"
#include "api/tenancy/tenant_operations.h"
#include "api/tenancy/tenant_stats.h"

namespace postrider::api {
namespace {

tl::unexpected<Error> no_such_webhook() {
  return fail(Errc::not_found, "There is no such webhook.");
}

tl::unexpected<Error> no_such_channel() {
  return fail(Errc::not_found, "There is no such notification channel.");
}

tl::unexpected<Error> not_for_tenants() {
  return fail(Errc::not_found, "This is not available with a tenant's API key.");
}

constexpr std::size_t tenant_keys_max = 100;  // That a tenant may create itself.

bool is_key_of(const ApiKey& key, const TenantId& tenant_id) {
  return key.scope == KeyScope::tenant && key.tenant_id == tenant_id;
}

/// Which changes of the registry a tenant may make: of its own keys and sessions.
class AllowedChange {
 public:
  AllowedChange(const AccessSnapshot& access, const TenantId& tenant_id)
      : access_(access), tenant_id_(tenant_id) {}

  bool operator()(const AddKey& add) const {
    return is_key_of(add.key, tenant_id_) && access_.find_key(add.key.id) == nullptr;
  }
  bool operator()(const RemoveKey& remove) const { return owns(access_.find_key(remove.id)); }
  bool operator()(const EndSessions& end) const {
    return std::ranges::all_of(end.ids, [&](KeyId id) { return owns(access_.find_session(id)); });
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }

 private:
  [[nodiscard]] bool owns(const KeyRef& key) const {
    return key != nullptr && is_key_of(key->key(), tenant_id_);
  }

  const AccessSnapshot& access_;
  const TenantId& tenant_id_;
};

class TenantService final : public Service {
 public:
  TenantService(Service& all, TenantId tenant_id) : all_(all), tenant_id_(std::move(tenant_id)) {}

  [[nodiscard]] Moment now() const override { return all_.now(); }
  Uuid new_uuid() override { return all_.new_uuid(); }

  [[nodiscard]] std::shared_ptr<const Directory> directory() const override {
    return std::make_shared<const Directory>(all_.directory()->only(tenant_id_));
  }
  [[nodiscard]] std::shared_ptr<const AccessSnapshot> access() const override {
    return std::make_shared<const AccessSnapshot>(all_.access()->only(tenant_id_));
  }
  [[nodiscard]] std::map<KeyId, KeyRef> api_keys() const override {
    return all_.access()->keys_of(tenant_id_);
  }
  [[nodiscard]] std::shared_ptr<const EventTypeCatalog> event_types() const override {
    return all_.event_types();
  }
  [[nodiscard]] std::shared_ptr<const ChannelDirectory> channels() const override {
    return std::make_shared<const ChannelDirectory>(all_.channels()->only(tenant_id_));
  }
  bool is_shared() const override { return all_.is_shared(); }
  Awaitable<void> catch_up() override { return all_.catch_up(); }
  /// Tenants do not see the servers.
  std::optional<ClusterStatus> cluster() const override { return std::nullopt; }
  void record_key_use(const AccessKey& key) override { all_.record_key_use(key); }
  QuotaWait take_quota(const EventCounts& counts) override { return all_.take_quota(counts); }

  Awaitable<Result<std::vector<PublishReceipt>>> publish(std::vector<EventDraft> drafts,
                                                         bool all_or_nothing) override;
  Awaitable<Result<WebhookRef>> add_webhook(Webhook webhook, AuditEntry entry,
                                            std::optional<RequestKey> key) override;
  Awaitable<Result<WebhookRef>> edit_webhook(WebhookId id, WebhookEdit edit, AuditEntry entry,
                                             std::optional<RequestKey> key) override;
  Awaitable<Result<void>> remove_webhook(WebhookId id, AuditEntry entry) override;
  Awaitable<Result<Delivery>> revive(Revive revive, AuditEntry entry) override;
  Awaitable<Result<Delivery>> cancel(DeliveryId id, AuditEntry entry) override;
  Awaitable<Result<Operation>> start_operation(Operation operation, ShareOwner owner,
                                               AuditEntry entry,
                                               std::optional<RequestKey> key) override;
  Awaitable<Result<Operation>> cancel_operation(OperationId id, AuditEntry entry) override;
  Awaitable<Result<TestSent>> send_test(WebhookRef webhook, Event event, AuditEntry entry,
                                        std::optional<RequestKey> key) override;
  Awaitable<Result<Outcome>> probe(Webhook webhook, Event event, Millis timeout) override;
  Awaitable<Result<ChannelRef>> add_channel(OwnedChannel added, AuditEntry entry,
                                            std::optional<RequestKey> key) override;
  Awaitable<Result<ChannelRef>> edit_channel(ChannelId id, ChannelEdit edit,
                                             AuditEntry entry) override;
  Awaitable<Result<void>> remove_channel(ChannelId id, AuditEntry entry) override;
  Awaitable<Result<Notification>> send_test_notification(Notification test, AuditEntry entry,
                                                         std::optional<RequestKey> key) override;
  Awaitable<Result<void>> record_read(AuditEntry entry) override {
    return all_.record_read(std::move(entry));
  }
  Awaitable<Result<std::uint64_t>> reseal_secrets(AuditEntry) override {
    co_return not_for_tenants();
  }
  [[nodiscard]] std::vector<SourceView> sources() const override { return {}; }
  Awaitable<Result<SourceView>> pause_source(std::string, bool, AuditEntry) override {
    co_return not_for_tenants();
  }
  Awaitable<Result<LaneView>> lane_view(WebhookId id) override;
  Awaitable<LaneViews> lane_views(std::vector<WebhookId> ids) override;
  Awaitable<Result<LaneView>> command_circuit(CircuitCommanded command, AuditEntry entry) override;
  Awaitable<void> run_query(ShareOwner owner, ReaderQuery query) override;

  Awaitable<Result<EventTypeRef>> change_event_type(std::string, EventTypeEdit, AuditEntry,
                                                    std::optional<RequestKey>) override {
    co_return not_for_tenants();
  }
  Awaitable<Result<void>> change_registry(RegistryChange change, AuditEntry entry,
                                          std::optional<RequestKey> key) override;
  Awaitable<Result<void>> remove_tenant(TenantId, bool, AuditEntry) override {
    co_return not_for_tenants();
  }
  Result<std::unique_ptr<StreamHub::Subscription>> subscribe(StreamFilter filter,
                                                             std::optional<StreamPosition> seen,
                                                             std::function<void()> wake) override;
  std::string metrics_text() override { return {}; }
  CurrentLoad current_load(const std::optional<TenantId>& tenant_id) override {
    return tenant_id.value_or(tenant_id_) == tenant_id_ ? all_.current_load(tenant_id_)
                                                        : CurrentLoad{};
  }
  [[nodiscard]] std::optional<std::string> not_ready() const override { return all_.not_ready(); }

 private:
  [[nodiscard]] bool owns(WebhookId id) const {
    const WebhookRef webhook = all_.directory()->find(id);
    return webhook != nullptr && webhook->tenant_id == tenant_id_;
  }
  [[nodiscard]] bool owns(ChannelId id) const {
    const ChannelRef channel = all_.channels()->find(id);
    return channel != nullptr && channel->tenant_id == tenant_id_;
  }
  [[nodiscard]] bool owns(const OwnedChannel& owned) const {
    return owned.channel.tenant_id == tenant_id_ &&
           (!owned.webhook || owned.webhook->tenant_id == tenant_id_);
  }
  [[nodiscard]] ShareOwner share() const { return {ShareKind::tenant, tenant_id_}; }
  /// Fails with not_found unless the delivery is the tenant's. A delivery never changes its tenant.
  Awaitable<Result<void>> check_owned(DeliveryId id);

  Service& all_;
  TenantId tenant_id_;
};

Awaitable<Result<std::vector<PublishReceipt>>> TenantService::publish(
    std::vector<EventDraft> drafts, bool all_or_nothing) {
  const bool mine = std::ranges::all_of(
      drafts, [this](const EventDraft& draft) { return draft.event.tenant_id == tenant_id_; });
  if (!mine) {
    co_return fail(Errc::invalid, "`tenant_id` must be left out or be that of this API key.");
  }
  auto pending = all_.publish(std::move(drafts), all_or_nothing);
  co_return co_await std::move(pending);
}

Awaitable<Result<WebhookRef>> TenantService::add_webhook(Webhook webhook, AuditEntry entry,
                                                         std::optional<RequestKey> key) {
  if (webhook.tenant_id != tenant_id_) {
    co_return fail(Errc::invalid, "`tenant_id` must be left out or be that of this API key.");
  }
  auto pending = all_.add_webhook(std::move(webhook), std::move(entry), std::move(key));
  co_return co_await std::move(pending);
}

Awaitable<Result<WebhookRef>> TenantService::edit_webhook(WebhookId id, WebhookEdit edit,
                                                          AuditEntry entry,
                                                          std::optional<RequestKey> key) {
  if (!owns(id)) {
    co_return no_such_webhook();
  }
  WebhookEdit within = [edit = std::move(edit),
                        tenant_id = tenant_id_](const Webhook& current) -> Result<Webhook> {
    if (current.tenant_id != tenant_id) {
      return no_such_webhook();
    }
    POSTRIDER_TRY(Webhook edited, edit(current));
    if (edited.tenant_id != tenant_id) {
      return fail(Errc::invalid, "`tenant_id` cannot be changed.");
    }
    return edited;
  };
  auto pending = all_.edit_webhook(id, std::move(within), std::move(entry), std::move(key));
  co_return co_await std::move(pending);
}

Awaitable<Result<void>> TenantService::remove_webhook(WebhookId id, AuditEntry entry) {
  if (!owns(id)) {
    co_return no_such_webhook();
  }
  auto pending = all_.remove_webhook(id, std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Result<void>> TenantService::check_owned(DeliveryId id) {
  Result<void> found;
  ReaderQuery query = [&found, id](Reader& reader) {
    const Result<DeliveryRecord> record = reader.history->find_delivery(id);
    if (!record) {
      found = tl::make_unexpected(record.error());
    }
  };
  auto pending = run_query(share(), std::move(query));
  co_await std::move(pending);
  co_return found;
}

Awaitable<Result<Delivery>> TenantService::revive(Revive revive, AuditEntry entry) {
  auto looking = check_owned(revive.delivery_id);
  const Result<void> found = co_await std::move(looking);
  if (!found) {
    co_return tl::make_unexpected(found.error());
  }
  auto pending = all_.revive(std::move(revive), std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Result<Delivery>> TenantService::cancel(DeliveryId id, AuditEntry entry) {
  auto looking = check_owned(id);
  const Result<void> found = co_await std::move(looking);
  if (!found) {
    co_return tl::make_unexpected(found.error());
  }
  auto pending = all_.cancel(id, std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Result<Operation>> TenantService::start_operation(Operation operation, ShareOwner,
                                                            AuditEntry entry,
                                                            std::optional<RequestKey> key) {
  if (operation.tenant_id != tenant_id_ || operation.spec.filter.tenant_id != tenant_id_) {
    co_return fail(Errc::invalid, "`tenant_id` must be left out or be that of this API key.");
  }
  auto pending =
      all_.start_operation(std::move(operation), share(), std::move(entry), std::move(key));
  co_return co_await std::move(pending);
}

Awaitable<Result<Operation>> TenantService::cancel_operation(OperationId id, AuditEntry entry) {
  const auto query = [id](Reader& reader) { return reader.operations->find(id); };
  auto looking = read(share(), query);
  Result<Operation> found = co_await std::move(looking);
  if (!found) {
    co_return found;
  }
  auto pending = all_.cancel_operation(id, std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Result<TestSent>> TenantService::send_test(WebhookRef webhook, Event event,
                                                     AuditEntry entry,
                                                     std::optional<RequestKey> key) {
  if (!owns(webhook->id) || event.tenant_id != tenant_id_) {
    co_return no_such_webhook();
  }
  auto pending =
      all_.send_test(std::move(webhook), std::move(event), std::move(entry), std::move(key));
  Result<TestSent> sent = co_await std::move(pending);
  if (sent && sent->attempt) {
    hide_internal_addresses(sent->attempt->outcome);
  }
  co_return sent;
}

Awaitable<Result<Outcome>> TenantService::probe(Webhook webhook, Event event, Millis timeout) {
  if (webhook.tenant_id != tenant_id_ || event.tenant_id != tenant_id_) {
    co_return no_such_webhook();
  }
  auto pending = all_.probe(std::move(webhook), std::move(event), timeout);
  Result<Outcome> outcome = co_await std::move(pending);
  if (outcome) {
    hide_internal_addresses(*outcome);
  }
  co_return outcome;
}

Awaitable<Result<ChannelRef>> TenantService::add_channel(OwnedChannel added, AuditEntry entry,
                                                         std::optional<RequestKey> key) {
  if (!owns(added)) {
    co_return fail(Errc::invalid, "`tenant_id` must be left out or be that of this API key.");
  }
  auto pending = all_.add_channel(std::move(added), std::move(entry), std::move(key));
  co_return co_await std::move(pending);
}

Awaitable<Result<ChannelRef>> TenantService::edit_channel(ChannelId id, ChannelEdit edit,
                                                          AuditEntry entry) {
  if (!owns(id)) {  // A channel never changes its owner.
    co_return no_such_channel();
  }
  ChannelEdit within = [edit = std::move(edit), tenant_id = tenant_id_](
                           const OwnedChannel& current) -> Result<OwnedChannel> {
    POSTRIDER_TRY(OwnedChannel edited, edit(current));
    if (edited.channel.tenant_id != tenant_id ||
        (edited.webhook && edited.webhook->tenant_id != tenant_id)) {
      return fail(Errc::invalid, "`tenant_id` cannot be changed.");
    }
    return edited;
  };
  auto pending = all_.edit_channel(id, std::move(within), std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Result<void>> TenantService::remove_channel(ChannelId id, AuditEntry entry) {
  if (!owns(id)) {
    co_return no_such_channel();
  }
  auto pending = all_.remove_channel(id, std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Result<Notification>> TenantService::send_test_notification(
    Notification test, AuditEntry entry, std::optional<RequestKey> key) {
  if (!owns(test.channel_id)) {
    co_return no_such_channel();
  }
  auto pending = all_.send_test_notification(std::move(test), std::move(entry), std::move(key));
  co_return co_await std::move(pending);
}

Awaitable<Result<void>> TenantService::change_registry(RegistryChange change, AuditEntry entry,
                                                       std::optional<RequestKey> key) {
  if (!std::visit(AllowedChange{*all_.access(), tenant_id_}, change)) {
    co_return not_for_tenants();
  }
  if (auto* add = std::get_if<AddKey>(&change)) {
    add->keys_max = tenant_keys_max;
  }
  auto pending = all_.change_registry(std::move(change), std::move(entry), std::move(key));
  co_return co_await std::move(pending);
}

Awaitable<Result<LaneView>> TenantService::lane_view(WebhookId id) {
  if (!owns(id)) {
    co_return no_such_webhook();
  }
  auto pending = all_.lane_view(id);
  co_return co_await std::move(pending);
}

Awaitable<LaneViews> TenantService::lane_views(std::vector<WebhookId> ids) {
  std::erase_if(ids, [this](WebhookId id) { return !owns(id); });
  auto pending = all_.lane_views(std::move(ids));
  co_return co_await std::move(pending);
}

Awaitable<Result<LaneView>> TenantService::command_circuit(CircuitCommanded command,
                                                           AuditEntry entry) {
  if (!owns(command.webhook_id)) {
    co_return no_such_webhook();
  }
  auto pending = all_.command_circuit(std::move(command), std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<void> TenantService::run_query(ShareOwner, ReaderQuery query) {
  const std::shared_ptr<const Directory> webhooks = directory();
  const std::shared_ptr<const ChannelDirectory> channels_of_tenant = channels();
  ReaderQuery mine = [this, &query, &webhooks, &channels_of_tenant](Reader& reader) {
    Reader theirs;  // Roles that are not set here do not exist for a tenant.
    theirs.history = make_tenant_history(*reader.history, tenant_id_, webhooks);
    theirs.alerts = make_tenant_alerts(*reader.alerts, tenant_id_);
    theirs.notifications = make_tenant_notifications(*reader.notifications, channels_of_tenant);
    theirs.operations = make_tenant_operations(*reader.operations, tenant_id_);
    theirs.stats = make_tenant_stats(*reader.stats, tenant_id_);
    query(theirs);
  };
  auto pending = all_.run_query(share(), std::move(mine));
  co_await std::move(pending);
}

Result<std::unique_ptr<StreamHub::Subscription>> TenantService::subscribe(
    StreamFilter filter, std::optional<StreamPosition> seen, std::function<void()> wake) {
  if (filter.tenant_id.value_or(tenant_id_) != tenant_id_) {
    filter.webhook_ids = {WebhookId{}};  // Matches nothing.
  }
  filter.tenant_id = tenant_id_;
  return all_.subscribe(std::move(filter), seen, std::move(wake));
}

}  // namespace

std::shared_ptr<Service> make_tenant_service(Service& all, TenantId tenant_id) {
  return std::make_shared<TenantService>(all, std::move(tenant_id));
}

}  // namespace postrider::api
