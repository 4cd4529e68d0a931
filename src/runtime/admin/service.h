// What the API may ask of the running server. The face of the runtime: everything behind it is
// threads and queues.
//
// Any io thread may call it. Awaitables resume on the executor of the coroutine that awaits them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "core/base/result.h"
#include "engine/intake/directory.h"
#include "engine/intake/intake.h"
#include "engine/shard/shard.h"
#include "ports/audit.h"
#include "ports/clock.h"
#include "ports/store.h"

#include "runtime/admin/access_snapshot.h"
#include "runtime/limits/publish_quota.h"
#include "runtime/observability/stream_hub.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider {

template <class T>
using Awaitable = boost::asio::awaitable<T>;

struct EventDraft {
  Event event;
  std::optional<IdempotencyClaim> claim;
};

/// What came of a test.
struct TestSent {
  DeliveryId delivery_id;
  std::optional<Attempt> attempt = std::nullopt;  // None: not made or on disk within its time.
  RequestShapeRef request = nullptr;              // See Settlement.
};

/// Errors: unavailable with a sentence when the store is failing, the server is draining or its
/// queues are full; nothing has been accepted then (P6).
class Service {
 public:
  virtual ~Service() = default;

  [[nodiscard]] virtual Moment now() const = 0;
  [[nodiscard]] virtual Uuid new_uuid() = 0;

  /// The webhooks as of now: a change that was answered is in it.
  [[nodiscard]] virtual std::shared_ptr<const Directory> directory() const = 0;
  /// Keys, tenants and portal links as of now.
  [[nodiscard]] virtual std::shared_ptr<const AccessSnapshot> access() const = 0;
  /// A request came with this key. Written down later, at most once a minute.
  virtual void note_key_use(const AccessKey& key) = 0;

  /// What these events cost, taken from their tenants' quotas, all or nothing. To be asked before
  /// `publish`.
  [[nodiscard]] virtual QuotaWait take_quota(const EventCounts& counts) = 0;
  [[nodiscard]] virtual std::shared_ptr<const EventTypeCatalog> event_types() const = 0;

  /// Stores the event and its deliveries; resumes once they are on disk (P1). `all_or_nothing`: see
  /// Publish::atomic_group. The receipts are in the order of the drafts.
  virtual Awaitable<Result<std::vector<PublishReceipt>>> publish(std::vector<EventDraft> drafts,
                                                                 bool all_or_nothing) = 0;

  // Whatever changes something takes the entry that the audit log is to have of it; both are stored
  // in one transaction.

  /// Adds a webhook; events published after it resumed reach it. Fails with conflict when its
  /// tenant has as many as it may have.
  virtual Awaitable<Result<WebhookRef>> add_webhook(Webhook webhook, AuditEntry entry) = 0;

  /// Reads, edits and stores one webhook with nothing in between. `edit` runs on the store thread:
  /// it must be quick and own what it captures. Fails with not_found and with whatever `edit` fails
  /// with.
  using WebhookEdit = std::function<Result<Webhook>(const Webhook&)>;
  virtual Awaitable<Result<WebhookRef>> edit_webhook(WebhookId id, WebhookEdit edit,
                                                     AuditEntry entry) = 0;
  virtual Awaitable<Result<void>> remove_webhook(WebhookId id, AuditEntry entry) = 0;

  virtual Awaitable<Result<Delivery>> revive(Revive revive, AuditEntry entry) = 0;
  virtual Awaitable<Result<Delivery>> cancel(DeliveryId id, AuditEntry entry) = 0;

  /// Reads, edits and stores the catalogue's entry of one name with nothing in between. `edit` is
  /// as in edit_webhook; the answer is null when it removed the entry.
  virtual Awaitable<Result<EventTypeRef>> change_event_type(std::string name, EventTypeEdit edit,
                                                            AuditEntry entry) = 0;
  /// Takes a new operation on; it is carried out by itself from then on. Fails with conflict when
  /// there are too many already.
  virtual Awaitable<Result<Operation>> start_operation(Operation operation, AuditEntry entry) = 0;
  /// Nothing more is begun. Fails with not_found, and with conflict when it is over.
  virtual Awaitable<Result<Operation>> cancel_operation(OperationId id, AuditEntry entry) = 0;
  /// Sends the event to this webhook alone, with priority, once, and waits for the attempt to be on
  /// disk: as long as an attempt may take and a little more. Fails with unavailable as publishing
  /// does, and when too many are waiting already.
  virtual Awaitable<Result<TestSent>> send_test(WebhookRef webhook, Event event,
                                                AuditEntry entry) = 0;

  /// One request to a webhook, which need not be stored, outside its lane; nothing is recorded.
  /// Fails with unavailable when too many are under way.
  virtual Awaitable<Result<Outcome>> probe(Webhook webhook, Event event, Millis timeout) = 0;

  /// For the audit log alone: somebody looked at what not everyone may see. Takes the request's
  /// key, when there is one.
  virtual Awaitable<Result<void>> note(AuditEntry entry) = 0;

  /// Seals every stored secret with the current key and says of how many webhooks.
  virtual Awaitable<Result<std::uint64_t>> reseal_secrets(AuditEntry entry) = 0;

  /// What the webhook's lane is doing now. Fails with not_found.
  virtual Awaitable<Result<LaneView>> lane_view(WebhookId id) = 0;
  virtual Awaitable<Result<LaneView>> command_circuit(CircuitCommanded command,
                                                      AuditEntry entry) = 0;

  /// Changes keys, tenants or portal links; the next request sees it. Fails as AccessSnapshot::with
  /// does.
  virtual Awaitable<Result<void>> change_registry(RegistryChange change, AuditEntry entry) = 0;
  /// A registered tenant with its keys and links, and with `force` its webhooks. Fails with
  /// not_found, and with conflict when it has webhooks and is not forced.
  virtual Awaitable<Result<void>> remove_tenant(TenantId id, bool force, AuditEntry entry) = 0;

  /// Runs `query` on a reader thread.
  using ReaderQuery = std::function<void(Reader&)>;
  virtual Awaitable<void> run_query(ReaderQuery query) = 0;

  /// What happens, as it happens; see StreamHub::subscribe.
  [[nodiscard]] virtual Result<std::unique_ptr<StreamHub::Subscription>> subscribe(
      StreamFilter filter, std::optional<StreamPosition> seen, std::function<void()> wake) = 0;

  [[nodiscard]] virtual std::string metrics_text() = 0;
  /// nullopt: ready. Otherwise why not.
  [[nodiscard]] virtual std::optional<std::string> not_ready() const = 0;

  /// `query` on a reader thread, and its result.
  template <class Query>
  Awaitable<std::invoke_result_t<Query&, Reader&>> read(Query query) {
    std::optional<std::invoke_result_t<Query&, Reader&>> answer;
    ReaderQuery run = [&answer, &query](Reader& reader) { answer.emplace(query(reader)); };
    co_await run_query(std::move(run));
    co_return std::move(*answer);
  }
};

}  // namespace postrider
