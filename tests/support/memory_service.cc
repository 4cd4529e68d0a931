#include "tests/support/memory_service.h"

#include "core/assert.h"
#include "core/retry.h"
#include "engine/intake.h"

namespace postrider::test {

MemoryService::MemoryService()
    : roles_(make_memory_store(store)),
      reader_(make_memory_reader(store)),
      directory_(std::make_shared<const Directory>()) {}

std::shared_ptr<const std::vector<ApiKey>> MemoryService::api_keys() const {
  return std::make_shared<const std::vector<ApiKey>>(keys);
}

Result<BatchReceipt> MemoryService::commit(const Batch& batch) {
  if (store_failure) {
    return tl::make_unexpected(*store_failure);
  }
  return roles_.ledger->commit(batch);
}

Result<WebhookRef> MemoryService::put(Webhook webhook) {
  if (store_failure) {
    return tl::make_unexpected(*store_failure);
  }
  POSTRIDER_CHECK(roles_.catalog->put_webhook(webhook));
  lanes.try_emplace(webhook.id);
  WebhookRef ref = std::make_shared<const Webhook>(std::move(webhook));
  directory_ = std::make_shared<const Directory>(directory_->with(ref));
  return ref;
}

void MemoryService::apply_now(WebhookId id, const WebhookEdit& edit) {
  POSTRIDER_ASSERT(put(edit(*directory_->find(id)).value()).has_value());
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
  Batch batch;
  batch.settlements.push_back(std::move(settlement));
  POSTRIDER_ASSERT(roles_.ledger->commit(batch).has_value());
}

Awaitable<Result<std::vector<PublishReceipt>>> MemoryService::publish(
    std::vector<EventDraft> drafts, bool all_or_nothing) {
  Batch batch;
  for (EventDraft& draft : drafts) {
    Publish publish = plan_publish(std::move(draft.event), *directory_, ids_, moment.steady);
    publish.claim = std::move(draft.claim);
    publish.atomic_group = all_or_nothing ? 1 : 0;
    batch.publishes.push_back(std::move(publish));
  }
  Result<BatchReceipt> receipt = commit(batch);
  if (!receipt) {
    co_return tl::make_unexpected(receipt.error());
  }
  co_return std::move(receipt->publishes);
}

Awaitable<Result<WebhookRef>> MemoryService::add_webhook(Webhook webhook, AuditEntry entry) {
  co_return noted(put(std::move(webhook)), std::move(entry));
}

Awaitable<Result<WebhookRef>> MemoryService::edit_webhook(WebhookId id, WebhookEdit edit,
                                                          AuditEntry entry) {
  if (before_edit) {
    before_edit();
  }
  const WebhookRef current = directory_->find(id);
  if (current == nullptr) {
    co_return fail(Errc::not_found, "There is no such webhook.");
  }
  Result<Webhook> changed = edit(*current);
  if (!changed) {
    co_return tl::make_unexpected(changed.error());
  }
  co_return noted(put(*std::move(changed)), std::move(entry));
}

Awaitable<Result<void>> MemoryService::remove_webhook(WebhookId id, AuditEntry entry) {
  if (store_failure) {
    co_return tl::make_unexpected(*store_failure);
  }
  Result<void> removed = roles_.catalog->remove_webhook(id, moment.wall);
  if (removed) {
    directory_ = std::make_shared<const Directory>(directory_->without(id));
    lanes.erase(id);
  }
  co_return noted(std::move(removed), std::move(entry));
}

Awaitable<Result<EventTypeRef>> MemoryService::change_event_type(std::string name,
                                                                 EventTypeEdit edit,
                                                                 AuditEntry entry) {
  if (before_edit) {
    before_edit();
  }
  if (store_failure) {
    co_return tl::make_unexpected(*store_failure);
  }
  co_return noted(event_types_.change(*roles_.event_types, name, edit), std::move(entry));
}

Awaitable<Result<Delivery>> MemoryService::revive(Revive revive, AuditEntry entry) {
  Batch batch;
  batch.revivals.push_back(revive);
  Result<BatchReceipt> receipt = commit(batch);
  if (!receipt) {
    co_return tl::make_unexpected(receipt.error());
  }
  co_return noted(std::move(receipt->revivals.front()), std::move(entry));
}

Awaitable<Result<Delivery>> MemoryService::cancel(DeliveryId id, AuditEntry entry) {
  Batch batch;
  batch.cancels.push_back({.delivery_id = id, .now = moment.wall});
  Result<BatchReceipt> receipt = commit(batch);
  if (!receipt) {
    co_return tl::make_unexpected(receipt.error());
  }
  co_return noted(std::move(receipt->cancels.front()), std::move(entry));
}

Awaitable<Result<LaneView>> MemoryService::lane_view(WebhookId id) {
  const auto found = lanes.find(id);
  if (found == lanes.end()) {
    co_return fail(Errc::not_found, "There is no such lane.");
  }
  co_return found->second;
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
  audit.push_back(std::move(entry));
  co_return found->second;
}

Awaitable<void> MemoryService::run_query(ReaderQuery query) {
  query(reader_);
  co_return;
}

}  // namespace postrider::test
