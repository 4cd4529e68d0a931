// What the API may ask of the running server: one small interface per purpose. The node implements
// all of them; api/tenancy restricts them to one tenant.
//
// Any io thread may call them. Awaitables resume on the executor of the coroutine that awaits them.
//
// Errors: unavailable, with a sentence, if the store is failing, the server is draining or its
// queues are full; nothing has been accepted then (P6). Every change takes its entry for the audit
// log; change and entry are stored in one transaction. A change that creates something also takes
// the request's idempotency key, if it has one, and fails with conflict if the key was used before.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "core/base/result.h"
#include "core/model/lease.h"
#include "core/policy/shares.h"
#include "engine/admin/access_snapshot.h"
#include "engine/admin/channel_directory.h"
#include "engine/admin/publish_quota.h"
#include "engine/intake/directory.h"
#include "engine/intake/publish.h"
#include "engine/shard/messages.h"
#include "engine/shard/shard_view.h"
#include "ports/audit.h"
#include "ports/clock.h"
#include "ports/request_keys.h"
#include "ports/store.h"

#include "runtime/observability/current_load.h"
#include "runtime/observability/stream_hub.h"
#include "runtime/sources/source_runner.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider {

template <class T>
using Awaitable = boost::asio::awaitable<T>;

class IdGenerator {
 public:
  virtual ~IdGenerator() = default;

  [[nodiscard]] virtual Uuid new_uuid() = 0;
};

/// Immutable views of the current configuration. They include every change that was answered.
class Snapshots {
 public:
  virtual ~Snapshots() = default;

  [[nodiscard]] virtual std::shared_ptr<const Directory> directory() const = 0;
  /// Keys, sessions, tenants and sign-in links.
  [[nodiscard]] virtual std::shared_ptr<const AccessSnapshot> access() const = 0;
  /// The API keys, without sessions.
  [[nodiscard]] virtual std::map<KeyId, KeyRef> api_keys() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const EventTypeCatalog> event_types() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const ChannelDirectory> channels() const = 0;
};

/// The servers that share the store, as this one saw them last.
struct ClusterStatus {
  NodeId self;
  ClusterView view;  // With the leases of this server's pool.
};

/// Several servers may share the store. Each has snapshots of its own.
class SharedStore {
 public:
  virtual ~SharedStore() = default;

  [[nodiscard]] virtual bool is_shared() const = 0;
  /// Returns when the snapshots include everything that any of the servers had answered before this
  /// call. Returns at once if the store is not shared, and if it fails.
  virtual Awaitable<void> catch_up() = 0;
  /// Returns nullopt if the store is not shared, or before the first contact with the others.
  [[nodiscard]] virtual std::optional<ClusterStatus> cluster() const = 0;
};

struct EventDraft {
  Event event;
  std::optional<IdempotencyClaim> claim;
  std::optional<SourceRow> row = std::nullopt;  // See Publish, as for the next.
  std::optional<WebhookId> only_to = std::nullopt;
};

class Publishing {
 public:
  virtual ~Publishing() = default;

  /// Takes these events from the quotas of their tenants, all or nothing. Call before `publish`.
  [[nodiscard]] virtual QuotaWait take_quota(const EventCounts& counts) = 0;

  /// Stores the events and their deliveries; resumes once they are on disk (P1). `all_or_nothing`:
  /// see Publish::atomic_group. The receipts are in the order of the drafts. Fails with conflict if
  /// too many deliveries of a tenant are still to be made from notes.
  virtual Awaitable<Result<std::vector<PublishReceipt>>> publish(std::vector<EventDraft> drafts,
                                                                 bool all_or_nothing) = 0;
};

/// Runs on the store thread: it must be quick and own what it captures.
using WebhookEdit = std::function<Result<Webhook>(const Webhook&)>;

class WebhookChanges {
 public:
  virtual ~WebhookChanges() = default;

  /// Adds a webhook. It receives events that are published after this call resumed. Fails with
  /// conflict if the tenant's webhook limit is reached.
  virtual Awaitable<Result<WebhookRef>> add_webhook(Webhook webhook, AuditEntry entry,
                                                    std::optional<RequestKey> key) = 0;

  /// Reads, edits and stores one webhook atomically. Fails with not_found, with the errors of
  /// `edit`, and with conflict if a notification channel owns the webhook and its events or payload
  /// format would change.
  virtual Awaitable<Result<WebhookRef>> edit_webhook(WebhookId id, WebhookEdit edit,
                                                     AuditEntry entry,
                                                     std::optional<RequestKey> key) = 0;
  /// Fails with not_found, and with conflict if a notification channel owns the webhook.
  virtual Awaitable<Result<void>> remove_webhook(WebhookId id, AuditEntry entry) = 0;

  /// Seals every stored secret with the current key. Returns the number of webhooks resealed.
  virtual Awaitable<Result<std::uint64_t>> reseal_secrets(AuditEntry entry) = 0;
};

/// The current state of webhooks' lanes, and the control of their circuits.
class LaneControl {
 public:
  virtual ~LaneControl() = default;

  /// Fails with not_found.
  virtual Awaitable<Result<LaneView>> lane_view(WebhookId id) = 0;
  /// Webhooks without a lane are left out. What their circuits count may be missing.
  virtual Awaitable<LaneViews> lane_views(std::vector<WebhookId> ids) = 0;
  virtual Awaitable<Result<LaneView>> command_circuit(CircuitCommanded command,
                                                      AuditEntry entry) = 0;
};

class DeliveryChanges {
 public:
  virtual ~DeliveryChanges() = default;

  virtual Awaitable<Result<Delivery>> revive(Revive revive, AuditEntry entry) = 0;
  virtual Awaitable<Result<Delivery>> cancel(DeliveryId id, AuditEntry entry) = 0;
};

class OperationChanges {
 public:
  virtual ~OperationChanges() = default;

  /// Stores a new operation, which then runs in the background. Fails with conflict if there are
  /// too many unfinished operations, of its tenant or in all. The operator may start one for a
  /// tenant that has its share.
  virtual Awaitable<Result<Operation>> start_operation(Operation operation, ShareOwner owner,
                                                       AuditEntry entry,
                                                       std::optional<RequestKey> key) = 0;
  /// Starts no further step of the operation. Fails with not_found, and with conflict if it has
  /// finished.
  virtual Awaitable<Result<Operation>> cancel_operation(OperationId id, AuditEntry entry) = 0;
};

class EventTypeEditor {
 public:
  virtual ~EventTypeEditor() = default;

  /// Reads, edits and stores the catalogue's entry of one name atomically. `edit` runs on the store
  /// thread, like WebhookEdit. Returns null if it removed the entry.
  virtual Awaitable<Result<EventTypeRef>> change_event_type(std::string name, EventTypeEdit edit,
                                                            AuditEntry entry,
                                                            std::optional<RequestKey> key) = 0;
};

class AccessChanges {
 public:
  virtual ~AccessChanges() = default;

  /// Changes keys, sessions, tenants or links, from the next request on. Fails as
  /// AccessSnapshot::with does.
  virtual Awaitable<Result<void>> change_registry(RegistryChange change, AuditEntry entry,
                                                  std::optional<RequestKey> key) = 0;
  /// Removes a registered tenant with its keys and links and, with `force`, its webhooks. Fails
  /// with not_found, and with conflict if it has webhooks and `force` is false.
  virtual Awaitable<Result<void>> remove_tenant(TenantId id, bool force, AuditEntry entry) = 0;

  /// A request came with this key. Stored later, at most once a minute.
  virtual void record_key_use(const AccessKey& key) = 0;
};

/// How many requests of TestSends run at once.
constexpr std::uint32_t test_sends_at_once_max = 32;

struct TestSent {
  DeliveryId delivery_id;
  std::optional<Attempt> attempt = std::nullopt;  // nullopt: not on disk within its time.
  RequestShapeRef request = nullptr;              // See Settlement.
};

/// Requests to a receiver whose outcome a person waits for.
class TestSends {
 public:
  virtual ~TestSends() = default;

  /// Sends the event to this webhook only, once, with priority, and waits until the attempt is on
  /// disk: at most a little longer than an attempt may take. Fails with unavailable as publishing
  /// does, and if too many tests are running.
  virtual Awaitable<Result<TestSent>> send_test(WebhookRef webhook, Event event, AuditEntry entry,
                                                std::optional<RequestKey> key) = 0;

  /// Sends one request to a webhook, which need not be stored, outside its lane. Records nothing.
  /// Fails with unavailable if too many probes are running.
  virtual Awaitable<Result<Outcome>> probe(Webhook webhook, Event event, Millis timeout) = 0;
};

/// A notification channel and the webhook that it owns, if its kind has one. Both are stored in one
/// transaction.
struct OwnedChannel {
  NotificationChannel channel;
  std::optional<Webhook> webhook;
};
/// Runs on the store thread, like WebhookEdit.
using ChannelEdit = std::function<Result<OwnedChannel>(const OwnedChannel&)>;

class ChannelEditor {
 public:
  virtual ~ChannelEditor() = default;

  /// Fails with conflict if its owner has too many channels or webhooks.
  virtual Awaitable<Result<ChannelRef>> add_channel(OwnedChannel added, AuditEntry entry,
                                                    std::optional<RequestKey> key) = 0;
  /// Reads, edits and stores one channel atomically. Fails with not_found, with conflict if the
  /// channel comes from the settings, and with the errors of `edit`.
  virtual Awaitable<Result<ChannelRef>> edit_channel(ChannelId id, ChannelEdit edit,
                                                     AuditEntry entry) = 0;
  /// Also removes its webhook. Fails as edit_channel does.
  virtual Awaitable<Result<void>> remove_channel(ChannelId id, AuditEntry entry) = 0;
};

class ChannelTests {
 public:
  virtual ~ChannelTests() = default;

  /// Stores `test`, whose transition is `test`, and sends it at once, without grouping or limits.
  /// Resumes with the notification when it is settled, or as it waits after some seconds. Fails
  /// with not_found if the channel is gone, and with conflict if it was tested too often.
  virtual Awaitable<Result<Notification>> send_test_notification(Notification test,
                                                                 AuditEntry entry,
                                                                 std::optional<RequestKey> key) = 0;
};

class AuditedReads {
 public:
  virtual ~AuditedReads() = default;

  /// Audits a read of sensitive data. Call before the data is shown.
  virtual Awaitable<Result<void>> record_read(AuditEntry entry) = 0;
};

class Queries {
 public:
  virtual ~Queries() = default;

  /// Runs `query` on a reader thread. The queries of one owner take turns with those of others.
  using ReaderQuery = std::function<void(Reader&)>;
  virtual Awaitable<void> run_query(ShareOwner owner, ReaderQuery query) = 0;

  /// Runs `query` on a reader thread and returns its result.
  template <class Query>
  Awaitable<std::invoke_result_t<Query&, Reader&>> read(ShareOwner owner, Query query) {
    std::optional<std::invoke_result_t<Query&, Reader&>> answer;
    ReaderQuery run = [&answer, &query](Reader& reader) { answer.emplace(query(reader)); };
    co_await run_query(std::move(owner), std::move(run));
    co_return std::move(*answer);
  }
};

/// The queries of one caller. Cheap to copy.
class OwnedQueries {
 public:
  /// `all` must outlive this object.
  OwnedQueries(Queries& all, ShareOwner owner) : all_(&all), owner_(std::move(owner)) {}

  template <class Query>
  [[nodiscard]] Awaitable<std::invoke_result_t<Query&, Reader&>> read(Query query) const {
    return all_->read(owner_, std::move(query));
  }

 private:
  Queries* all_;
  ShareOwner owner_;
};

class LiveStream {
 public:
  virtual ~LiveStream() = default;

  /// See StreamHub::subscribe.
  [[nodiscard]] virtual Result<std::unique_ptr<StreamHub::Subscription>> subscribe(
      StreamFilter filter, std::optional<StreamPosition> seen, std::function<void()> wake) = 0;
};

/// The configured sources of events. They belong to the operator.
class SourceControl {
 public:
  virtual ~SourceControl() = default;

  [[nodiscard]] virtual std::vector<SourceView> sources() const = 0;
  /// Pauses or resumes a source until the server stops. Fails with not_found.
  virtual Awaitable<Result<SourceView>> pause_source(std::string name, bool paused,
                                                     AuditEntry entry) = 0;
};

class ServerStatus {
 public:
  virtual ~ServerStatus() = default;

  [[nodiscard]] virtual std::string metrics_text() = 0;
  /// Of all tenants, or of one.
  [[nodiscard]] virtual CurrentLoad current_load(const std::optional<TenantId>& tenant_id) = 0;
  /// Returns nullopt if the server is ready, otherwise the reason why it is not.
  [[nodiscard]] virtual std::optional<std::string> not_ready() const = 0;
};

/// All of the above, for the classes that implement them. Callers take the ones they need.
class Service : public Clock,
                public IdGenerator,
                public Snapshots,
                public SharedStore,
                public Publishing,
                public WebhookChanges,
                public LaneControl,
                public DeliveryChanges,
                public OperationChanges,
                public EventTypeEditor,
                public AccessChanges,
                public TestSends,
                public ChannelEditor,
                public ChannelTests,
                public AuditedReads,
                public Queries,
                public LiveStream,
                public SourceControl,
                public ServerStatus {};

}  // namespace postrider
