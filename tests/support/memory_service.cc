#include "tests/support/memory_service.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/policy/retry.h"
#include "core/request/request.h"
#include "engine/intake/intake.h"

#include "adapters/openssl/digest.h"
#include "runtime/admin/api_key_use.h"
#include "runtime/store/idempotent_request.h"

namespace postrider::test {

/// The replies to lanes are dropped: there are no lanes.
struct MemoryService::DirectChange {
  DirectChange(MemoryService& service, const AuditEntry& entry)
      : context{.store = service.roles_, .replies = replies, .entry = entry} {}

  RepliesByShard replies{1};
  ChangeContext context;
};

MemoryService::MemoryService()
    : AdminService(Contents{}),
      roles_(make_memory_store(store)),
      reader_(make_memory_reader(store)) {
  store.digest = sha256;
  changes_.observe(*this);
}

void MemoryService::add_key(ApiKey key) { apply_now(RegistryChange{AddKey{std::move(key)}}); }

void MemoryService::apply_now(const RegistryChange& change) {
  AuditEntry entry;
  entry.at = moment.wall;
  DirectChange direct{*this, entry};
  POSTRIDER_ASSERT(changes_.change_registry(direct.context, change, std::nullopt).has_value());
}

Awaitable<void> MemoryService::catch_up() {
  ++catch_ups;
  if (const auto change = std::exchange(on_catch_up, nullptr)) {
    change();
  }
  co_return;
}

void MemoryService::record_key_use(const AccessKey& key) {
  note_use(key, moment.wall);
  key_uses.emplace_back(key.key().id, moment.wall);
}

Result<BatchReceipt> MemoryService::commit(const Batch& batch) {
  if (store_failure) {
    return tl::make_unexpected(*store_failure);
  }
  return roles_.ledger->commit(batch);
}

void MemoryService::apply_now(WebhookId id, const WebhookEdit& edit) {
  const AuditEntry entry;
  DirectChange direct{*this, entry};
  POSTRIDER_ASSERT(changes_.edit_webhook(direct.context, id, edit, std::nullopt).has_value());
}

void MemoryService::configure(ChannelId id) {
  const AuditEntry entry;
  DirectChange direct{*this, entry};
  const ChannelEdit edit = [](OwnedChannel owned) -> Result<OwnedChannel> {
    owned.channel.configured = true;
    return owned;
  };
  POSTRIDER_ASSERT(changes_.edit_channel(direct.context, id, edit).has_value());
}

void MemoryService::apply_now(const std::string& event_type, const EventTypeEdit& edit) {
  const AuditEntry entry;
  POSTRIDER_ASSERT(
      event_types_.change(roles_, {event_type, edit}, entry, std::nullopt).has_value());
}

RequestShapeRef MemoryService::shape_for(WebhookId id) const {
  const WebhookRef webhook = directory()->find(id);
  if (webhook == nullptr) {
    return nullptr;
  }
  const UrlPolicy any{.allow_http = true, .addresses = {.allow_private = true}};
  const TargetUrl url = parse_target_url(webhook->url, any).value();
  return std::make_shared<const RequestShape>(
      RequestTemplate{*webhook, url, "Postrider/test"}.stored_shape());
}

void MemoryService::settle(DeliveryId id, DeliveryState state, const Outcome& outcome,
                           std::optional<DeadReason> dead) {
  const Result<DeliveryRecord> record = reader_.history->find_delivery(id);
  POSTRIDER_ASSERT(record.has_value());
  Settlement settlement{
      .delivery = record->delivery, .attempt = Attempt{}, .dead = std::move(dead)};
  settlement.delivery.state = state;
  settlement.delivery.attempt_count += 1;
  settlement.delivery.budget_used += 1;
  settlement.attempt->id = AttemptId{new_uuid()};
  settlement.attempt->number = settlement.delivery.attempt_count;
  settlement.attempt->scheduled_at = record->delivery.due;
  settlement.attempt->outcome = outcome;
  settlement.attempt->failure_category = categorize(outcome);
  settlement.request = shape_for(record->delivery.webhook_id);
  Batch batch;
  batch.settlements.push_back(std::move(settlement));
  POSTRIDER_ASSERT(roles_.ledger->commit(batch).has_value());
}

Awaitable<Result<std::vector<PublishReceipt>>> MemoryService::publish(
    std::vector<EventDraft> drafts, bool all_or_nothing) {
  if (outdated_publishes > 0) {
    --outdated_publishes;
    if (const auto change = std::exchange(on_outdated, nullptr)) {
      change();
    }
    co_return std::vector<PublishReceipt>(drafts.size(), Outdated{});
  }
  std::vector<Publish> publishes;
  for (EventDraft& draft : drafts) {
    Publish& publish = publishes.emplace_back();
    publish.event = std::move(draft.event);
    publish.claim = std::move(draft.claim);
    publish.row = std::move(draft.row);
    publish.only_to = draft.only_to;
    publish.atomic_group = all_or_nothing ? 1 : 0;
  }
  PublishPlanner planner{directory(), std::move(publishes)};
  while (!planner.advance(planning_effort_max)) {
  }
  Batch batch;
  batch.publishes = std::move(planner).finish(ids_, moment.steady);
  Result<BatchReceipt> receipt = commit(batch);
  if (!receipt) {
    co_return tl::make_unexpected(receipt.error());
  }
  co_return std::move(receipt->publishes);
}

Awaitable<Result<SourceView>> MemoryService::pause_source(std::string name, bool paused,
                                                          AuditEntry entry) {
  const auto found = std::ranges::find(source_views, name, &SourceView::name);
  if (found == source_views.end()) {
    co_return fail(Errc::not_found, "There is no such source.");
  }
  auto noting = append_audit(std::move(entry));
  const Result<void> noted = co_await std::move(noting);
  if (!noted) {
    co_return tl::make_unexpected(noted.error());
  }
  found->state = paused ? SourceState::paused : SourceState::reconnecting;
  co_return *found;
}

Awaitable<Result<void>> MemoryService::run_on_store_thread(AuditEntry entry, Change change) {
  if (before_change) {
    before_change();
  }
  if (store_failure) {
    co_return tl::make_unexpected(*store_failure);
  }
  DirectChange direct{*this, entry};
  co_return change(direct.context);
}

Awaitable<Result<Delivery>> MemoryService::revive(Revive revive, AuditEntry entry) {
  Batch batch;
  batch.revivals.push_back(revive);
  batch.audits.push_back({.entry = std::move(entry), .revival = 0, .cancel = std::nullopt});
  Result<BatchReceipt> receipt = commit(batch);
  if (!receipt) {
    co_return tl::make_unexpected(receipt.error());
  }
  co_return std::move(receipt->revivals.front());
}

Awaitable<Result<Delivery>> MemoryService::cancel(DeliveryId id, AuditEntry entry) {
  Batch batch;
  batch.cancels.push_back({.delivery_id = id, .now = moment.wall});
  batch.audits.push_back({.entry = std::move(entry), .revival = std::nullopt, .cancel = 0});
  Result<BatchReceipt> receipt = commit(batch);
  if (!receipt) {
    co_return tl::make_unexpected(receipt.error());
  }
  co_return std::move(receipt->cancels.front());
}

/// Stores the operation; it never runs.
Awaitable<Result<Operation>> MemoryService::start_operation(Operation operation, ShareOwner,
                                                            AuditEntry entry,
                                                            std::optional<RequestKey> key) {
  if (store_failure) {
    co_return tl::make_unexpected(*store_failure);
  }
  if (const Result<void> taken = take_request_key(roles_, key, entry.subject, entry.at); !taken) {
    co_return tl::make_unexpected(taken.error());
  }
  POSTRIDER_ASSERT(roles_.operations->put(operation).has_value());
  POSTRIDER_ASSERT(roles_.audit->append(entry).has_value());
  co_return operation;
}

Awaitable<Result<Operation>> MemoryService::cancel_operation(OperationId id, AuditEntry entry) {
  Result<Operation> operation = roles_.operations->find(id);
  if (!operation) {
    co_return operation;
  }
  if (!is_unfinished(operation->status)) {
    co_return fail(Errc::conflict, "The operation has ended.");
  }
  operation->status = OperationStatus::cancelled;
  operation->finished_at = moment.wall;
  POSTRIDER_ASSERT(roles_.operations->put(*operation).has_value());
  POSTRIDER_ASSERT(roles_.audit->append(entry).has_value());
  co_return operation;
}

Awaitable<Result<TestSent>> MemoryService::send_test(WebhookRef webhook, Event event,
                                                     AuditEntry entry,
                                                     std::optional<RequestKey> key) {
  if (const Result<void> taken = take_request_key(roles_, key, event.id.to_string(), entry.at);
      !taken) {
    co_return tl::make_unexpected(taken.error());
  }
  Publish publish{.event = event};
  publish.deliveries.push_back({.id = DeliveryId{new_uuid()},
                                .event_id = event.id,
                                .webhook_id = webhook->id,
                                .event_type = event.type,
                                .priority = Priority::high,
                                .trigger = Trigger::test,
                                .due = moment.steady});
  const DeliveryId id = publish.deliveries.front().id;
  Batch batch;
  batch.publishes.push_back(std::move(publish));
  const Result<BatchReceipt> receipt = commit(batch);
  if (!receipt) {
    POSTRIDER_ASSERT(!key || roles_.request_keys->forget(*key));
    co_return tl::make_unexpected(receipt.error());
  }
  POSTRIDER_ASSERT(roles_.audit->append(entry).has_value());
  const std::optional<Outcome> outcome = receive ? receive(*webhook, event) : std::nullopt;
  if (!outcome) {
    co_return TestSent{.delivery_id = id, .attempt = std::nullopt};
  }
  settle(id, categorize(*outcome) ? DeliveryState::cancelled : DeliveryState::succeeded, *outcome,
         std::nullopt);
  co_return TestSent{.delivery_id = id,
                     .attempt = reader_.history->attempts_of(id)->back(),
                     .request = shape_for(webhook->id)};
}

Awaitable<Result<Outcome>> MemoryService::probe(Webhook webhook, Event event, Millis) {
  Outcome silence;
  silence.failure = FailureCategory::timeout;
  silence.error_message = "The receiver did not answer in time.";
  const std::optional<Outcome> outcome = receive ? receive(webhook, event) : std::nullopt;
  co_return outcome.value_or(silence);
}

Awaitable<Result<std::uint64_t>> MemoryService::reseal_secrets(AuditEntry entry) {
  POSTRIDER_ASSERT(roles_.audit->append(entry).has_value());
  co_return resealed;
}

Awaitable<Result<LaneView>> MemoryService::lane_view(WebhookId id) {
  const auto found = lanes.find(id);
  if (found == lanes.end()) {
    co_return fail(Errc::not_found, "There is no such lane.");
  }
  co_return found->second;
}

Awaitable<LaneViews> MemoryService::lane_views(std::vector<WebhookId> ids) {
  LaneViews views;
  for (const WebhookId id : ids) {
    if (const auto found = lanes.find(id); found != lanes.end()) {
      views.insert(*found);
    }
  }
  co_return views;
}

Awaitable<Result<LaneView>> MemoryService::command_circuit(CircuitCommanded command,
                                                           AuditEntry entry) {
  const auto found = lanes.find(command.webhook_id);
  if (found == lanes.end()) {
    co_return fail(Errc::not_found, "There is no such lane.");
  }
  std::optional<WallTime> until;
  if (command.duration) {
    until = moment.wall + *command.duration;
  }
  Breaker breaker{found->second.circuit};
  switch (command.action) {
    case CircuitAction::reset:
      breaker.reset(moment.wall);
      break;
    case CircuitAction::force_open:
      breaker.force_open(moment.wall, until);
      break;
    case CircuitAction::force_close:
      breaker.force_close(moment.wall, until);
      break;
  }
  found->second.circuit = breaker.record();
  if (const Result<void> noted = roles_.audit->append(entry); !noted) {
    co_return tl::make_unexpected(noted.error());
  }
  co_return found->second;
}

Awaitable<void> MemoryService::run_query(ShareOwner, ReaderQuery query) {
  query(reader_);
  co_return;
}

}  // namespace postrider::test
