#include "engine/admin/operation_step.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/filter/event_pattern.h"
#include "core/policy/operation_outcome.h"

namespace postrider {
namespace {

/// The tokens of two chunk pauses.
std::uint32_t burst_of(std::uint32_t requests_per_second) {
  return std::max(requests_per_second / 20, 1u);
}

/// Call when every item of the page has been planned.
template <class Item>
void end_page(ChunkPlan& plan, const Listed<Item>& page) {
  plan.place = page.next.value_or(plan.place);
  plan.last = !page.next;
}

std::uint64_t handled(const Operation& operation) {
  return operation.done + operation.skipped + operation.failed;
}

std::vector<std::string> pattern_texts(const std::vector<EventPattern>& patterns) {
  std::vector<std::string> texts;
  texts.reserve(patterns.size());
  for (const EventPattern& pattern : patterns) {
    texts.push_back(pattern.text());
  }
  return texts;
}

/// The webhook has no delivery of the event, or one in a requested state. Test events are never
/// replayed.
bool is_replayed(const Operation& operation, const EventForWebhook& item, const Webhook& webhook) {
  const std::vector<DeliveryState>& states = operation.spec.filter.states;
  const bool requested =
      !item.delivery || std::ranges::find(states, item.delivery->delivery.state) != states.end();
  return requested && wants(webhook, item.event) && !is_test(item.event);
}

template <class Item>
std::uint64_t count_done(const std::vector<Item>& results) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(results, [](const Item& result) { return result.has_value(); }));
}

DeliveryVersion version_of(const Delivery& delivery) {
  return {.state = delivery.state, .revivals = delivery.revivals};
}

/// The end of the range. It is exclusive, so that the millisecond of the start is included.
WallTime range_end(const Operation& operation) {
  POSTRIDER_ASSERT(operation.started_at.has_value());
  const WallTime end = *operation.started_at + Millis{1};
  return std::min(operation.spec.filter.to.value_or(end), end);
}

AddLateDelivery late_delivery(const Event& event, const Operation& operation,
                              const ReplayContext& context) {
  return {.delivery = {.id = DeliveryId{context.new_uuid()},
                       .event_id = event.id,
                       .webhook_id = context.webhook.id,
                       .sequence = 0,
                       .event_type = event.type,
                       .priority = operation.spec.priority.value_or(event.priority),
                       .state = DeliveryState::pending,
                       .trigger = Trigger::replay,
                       .due = context.now.steady,
                       .attempt_count = 0,
                       .budget_used = 0,
                       .revivals = 0,
                       .in_operation = true,
                       .trace = mark_of(event.trace)},
          .now = context.now.wall,
          .operation = operation.id};
}

}  // namespace

Pace make_pace(const OperationSpec& spec, MonoTime now) {
  Pace pace{.bucket = std::nullopt, .not_before = now};
  if (spec.requests_per_second) {
    pace.bucket.emplace(RateLimit{.count = *spec.requests_per_second,
                                  .period = Millis{1'000},
                                  .burst = burst_of(*spec.requests_per_second)},
                        now);
    pace.bucket->empty(now);
  }
  return pace;
}

void charge(Pace& pace, std::size_t requests, MonoTime now) {
  pace.not_before = now + (requests > 0 ? chunk_pause : scan_pause);
  pace.last_page_empty = requests == 0;
  for (std::size_t i = 0; pace.bucket && i < requests; ++i) {
    [[maybe_unused]] const bool taken = pace.bucket->try_take(now);
  }
}

OperationStep next_step(const Operation& operation, const Pace& pace, Moment now) {
  if (!has_work(operation)) {
    return Done{};
  }
  if (operation.status == OperationStatus::scheduled && operation.due > now.wall) {
    return WaitForStart{operation.due};
  }
  if (pace.not_before > now.mono) {
    return WaitForPace{pace.not_before};
  }
  if (operation.status == OperationStatus::scheduled) {
    return Begin{};
  }
  if (!operation.total) {
    return CountTotal{};
  }
  if (!pace.bucket) {
    return TakeChunk{.limit = chunk_max, .actions_max = chunk_max};
  }
  const auto tokens = static_cast<std::uint32_t>(pace.bucket->tokens(now.mono));
  if (tokens == 0) {
    return WaitForPace{std::max(pace.bucket->available_at(now.mono), now.mono + Millis{1})};
  }
  const std::uint32_t actions_max = std::min(tokens, chunk_max);
  return TakeChunk{.limit = pace.last_page_empty ? chunk_max : actions_max,
                   .actions_max = actions_max};
}

Operation start_run(Operation operation, WallTime now) {
  operation.status = OperationStatus::running;
  operation.started_at = now;
  operation.requeue_finished_at.reset();
  operation.finished_at.reset();
  operation.total.reset();
  operation.outcomes = {.requeued = operation.outcomes.waiting()};
  operation.done = operation.skipped = operation.failed = 0;
  operation.place = 0;
  return operation;
}

Operation set_total(Operation operation, std::uint64_t total, WallTime now) {
  operation.total = total;
  return total == 0 ? finish_run(std::move(operation), now) : operation;
}

Operation finish_run(Operation operation, WallTime now) {
  operation.requeue_finished_at = now;
  ++operation.runs;
  if (operation.spec.repeat_every) {
    operation.status = OperationStatus::scheduled;
    // Counted from the due time, so that it does not drift. Runs missed by a long run are skipped.
    operation.due = std::max(operation.due + *operation.spec.repeat_every, now);
  }
  return end_if_settled(std::move(operation), now);
}

Operation fail_run(Operation operation, std::string error, WallTime now) {
  operation.status = OperationStatus::failed;
  operation.finished_at = now;
  operation.error = std::move(error);
  return operation;
}

Operation cancel_run(Operation operation, WallTime now) {
  operation.status = OperationStatus::cancelled;
  operation.finished_at = now;
  return operation;
}

DeliveryFilter dead_letters_of(const Operation& operation) {
  DeliveryFilter filter = operation.spec.filter;
  filter.states = {DeliveryState::dead_letter};
  filter.to = range_end(operation);
  return filter;
}

EventFilter events_of(const Operation& operation, const Webhook& webhook) {
  const std::vector<std::string>& types = operation.spec.filter.event_types;
  return {.tenant_id = webhook.tenant_id,
          .types = types.empty() ? pattern_texts(webhook.events) : types,
          .from = operation.spec.filter.from,
          .to = range_end(operation)};
}

ChunkPlan plan_dead_letters(const Operation& operation, const Listed<DeliveryRecord>& page,
                            const DeadLetterContext& context) {
  POSTRIDER_ASSERT(context.actions_max > 0);
  ChunkPlan plan;
  plan.place = operation.place;
  for (const DeliveryRecord& record : page.items) {
    if (plan.action_count() == context.actions_max) {
      return plan;
    }
    const Delivery& delivery = record.delivery;
    plan.place = delivery.sequence;
    if (operation.kind == OperationKind::discard) {
      plan.batch.cancels.push_back({.delivery_id = delivery.id,
                                    .now = context.now.wall,
                                    .of = CancelOf::dead_letter,
                                    .only_if = version_of(delivery)});
    } else if (context.directory.find(delivery.webhook_id) == nullptr) {
      ++plan.failed;
    } else {
      plan.batch.revivals.push_back({.delivery_id = delivery.id,
                                     .now = context.now.steady,
                                     .priority = operation.spec.priority,
                                     .trigger = Trigger::manual,
                                     .only_if = version_of(delivery),
                                     .operation = operation.id});
    }
  }
  end_page(plan, page);
  return plan;
}

ChunkPlan plan_replay(const Operation& operation, const Listed<EventForWebhook>& page,
                      const ReplayContext& context) {
  POSTRIDER_ASSERT(context.actions_max > 0);
  ChunkPlan plan;
  plan.place = operation.place;
  for (const EventForWebhook& item : page.items) {
    if (plan.action_count() == context.actions_max) {
      return plan;
    }
    plan.place = item.sequence;
    if (!is_replayed(operation, item, context.webhook)) {
      continue;
    }
    if (!item.delivery) {
      plan.batch.late_deliveries.push_back(late_delivery(item.event, operation, context));
    } else {
      plan.batch.revivals.push_back({.delivery_id = item.delivery->delivery.id,
                                     .now = context.now.steady,
                                     .priority = operation.spec.priority,
                                     .trigger = Trigger::replay,
                                     .only_if = version_of(item.delivery->delivery),
                                     .operation = operation.id});
    }
  }
  end_page(plan, page);
  return plan;
}

std::uint64_t count_replayed(const Operation& operation, const Listed<EventForWebhook>& page,
                             const Webhook& webhook) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      page.items,
      [&](const EventForWebhook& item) { return is_replayed(operation, item, webhook); }));
}

Operation after_chunk(Operation operation, const ChunkPlan& plan, const BatchReceipt& receipt,
                      WallTime now) {
  const std::uint64_t requeued = count_done(receipt.revivals) + count_done(receipt.late_deliveries);
  const std::uint64_t done = requeued + count_done(receipt.cancels);
  operation.outcomes.requeued += requeued;
  operation.done += done;
  operation.skipped += plan.action_count() - done;  // These had changed meanwhile.
  operation.failed += plan.failed;
  operation.place = plan.place;
  // Items may appear or vanish between counting and processing.
  operation.total = std::max(operation.total.value_or(0), handled(operation));
  if (!plan.last) {
    return operation;
  }
  operation.skipped += *operation.total - handled(operation);
  return finish_run(std::move(operation), now);
}

}  // namespace postrider
