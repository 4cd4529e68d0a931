#include "runtime/admin/operation_step.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace postrider {
namespace {

/// What has accrued during one pause, and a little more, may go at once.
std::uint32_t burst_of(std::uint32_t requests_per_second) {
  return std::max(requests_per_second / 20, 1u);
}

/// The whole page has been looked at.
template <class Item>
void note_end(ChunkPlan& plan, const Listed<Item>& page) {
  plan.place = page.next.value_or(plan.place);
  plan.last = !page.next;
}

std::uint64_t handled(const Operation& operation) {
  return operation.done + operation.skipped + operation.failed;
}

std::vector<std::string> texts(const std::vector<EventPattern>& patterns) {
  std::vector<std::string> found;
  for (const EventPattern& pattern : patterns) {
    found.push_back(pattern.text());
  }
  return found;
}

/// Missed, or in a state that is asked for. What a test sent never happened.
bool is_replayed(const Operation& operation, const EventForWebhook& item, const Webhook& webhook) {
  const std::vector<DeliveryState>& states = operation.spec.filter.states;
  const bool asked_for =
      !item.delivery || std::ranges::find(states, item.delivery->delivery.state) != states.end();
  return asked_for && wants(webhook, item.event) && !is_test(item.event);
}

template <class Item>
std::uint64_t count_done(const std::vector<Item>& answers) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(answers, [](const Item& answer) { return answer.has_value(); }));
}

Seen seen(const Delivery& delivery) {
  return {.state = delivery.state, .revivals = delivery.revivals};
}

/// The end of a range excludes itself; what happened in the millisecond of the start was there.
WallTime no_later_than_start(const Operation& operation) {
  POSTRIDER_ASSERT(operation.started_at.has_value());
  const WallTime end = *operation.started_at + Millis{1};
  return std::min(operation.spec.filter.to.value_or(end), end);
}

AddLateDelivery enrolment(const Event& event, const Operation& operation,
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
                       .revivals = 0},
          .now = context.now.wall};
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
  pace.fruitless = requests == 0;
  for (std::size_t i = 0; pace.bucket && i < requests; ++i) {
    [[maybe_unused]] const bool taken = pace.bucket->try_take(now);
  }
}

OperationMove next_move(const Operation& operation, const Pace& pace, Moment now) {
  if (!is_unfinished(operation.status)) {
    return Rest{};
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
    return TakeChunk{.limit = chunk_max, .orders_max = chunk_max};
  }
  const auto tokens = static_cast<std::uint32_t>(pace.bucket->tokens(now.mono));
  if (tokens == 0) {
    return WaitForPace{std::max(pace.bucket->available_at(now.mono), now.mono + Millis{1})};
  }
  const std::uint32_t orders_max = std::min(tokens, chunk_max);
  return TakeChunk{.limit = pace.fruitless ? chunk_max : orders_max, .orders_max = orders_max};
}

Operation begun(Operation operation, WallTime now) {
  operation.status = OperationStatus::running;
  operation.started_at = now;
  operation.finished_at.reset();
  operation.total.reset();
  operation.done = operation.skipped = operation.failed = 0;
  operation.place = 0;
  return operation;
}

Operation counted(Operation operation, std::uint64_t total, WallTime now) {
  operation.total = total;
  return total == 0 ? finished(std::move(operation), now) : operation;
}

Operation finished(Operation operation, WallTime now) {
  operation.finished_at = now;
  ++operation.runs;
  if (!operation.spec.repeat_every) {
    operation.status = OperationStatus::completed;
    return operation;
  }
  operation.status = OperationStatus::scheduled;
  // From when it was due, so that it does not drift; a run that took too long skips what it missed.
  operation.due = std::max(operation.due + *operation.spec.repeat_every, now);
  return operation;
}

Operation failed(Operation operation, std::string error, WallTime now) {
  operation.status = OperationStatus::failed;
  operation.finished_at = now;
  operation.error = std::move(error);
  return operation;
}

Operation cancelled(Operation operation, WallTime now) {
  operation.status = OperationStatus::cancelled;
  operation.finished_at = now;
  return operation;
}

DeliveryFilter dead_letters_of(const Operation& operation) {
  DeliveryFilter filter = operation.spec.filter;
  filter.states = {DeliveryState::dead_letter};
  filter.to = no_later_than_start(operation);
  return filter;
}

EventFilter events_of(const Operation& operation, const Webhook& webhook) {
  const std::vector<std::string>& types = operation.spec.filter.event_types;
  return {.tenant_id = webhook.tenant_id,
          .types = types.empty() ? texts(webhook.events) : types,
          .from = operation.spec.filter.from,
          .to = no_later_than_start(operation)};
}

ChunkPlan plan_dead_letters(const Operation& operation, const Listed<DeliveryRecord>& page,
                            const DeadLetterContext& context) {
  POSTRIDER_ASSERT(context.orders_max > 0);
  ChunkPlan plan;
  plan.place = operation.place;
  for (const DeliveryRecord& record : page.items) {
    if (plan.orders() == context.orders_max) {
      return plan;
    }
    const Delivery& delivery = record.delivery;
    plan.place = delivery.sequence;
    if (operation.kind == OperationKind::discard) {
      plan.batch.cancels.push_back({.delivery_id = delivery.id,
                                    .now = context.now.wall,
                                    .of = CancelOf::dead_letter,
                                    .only_if = seen(delivery)});
    } else if (context.directory.find(delivery.webhook_id) == nullptr) {
      ++plan.failed;
    } else {
      plan.batch.revivals.push_back({.delivery_id = delivery.id,
                                     .now = context.now.steady,
                                     .priority = operation.spec.priority,
                                     .trigger = Trigger::manual,
                                     .only_if = seen(delivery)});
    }
  }
  note_end(plan, page);
  return plan;
}

ChunkPlan plan_replay(const Operation& operation, const Listed<EventForWebhook>& page,
                      const ReplayContext& context) {
  POSTRIDER_ASSERT(context.orders_max > 0);
  ChunkPlan plan;
  plan.place = operation.place;
  for (const EventForWebhook& item : page.items) {
    if (plan.orders() == context.orders_max) {
      return plan;
    }
    plan.place = item.sequence;
    if (!is_replayed(operation, item, context.webhook)) {
      continue;
    }
    if (!item.delivery) {
      plan.batch.late_deliveries.push_back(enrolment(item.event, operation, context));
    } else {
      plan.batch.revivals.push_back({.delivery_id = item.delivery->delivery.id,
                                     .now = context.now.steady,
                                     .priority = operation.spec.priority,
                                     .trigger = Trigger::replay,
                                     .only_if = seen(item.delivery->delivery)});
    }
  }
  note_end(plan, page);
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
  const std::uint64_t done = count_done(receipt.revivals) + count_done(receipt.late_deliveries) +
                             count_done(receipt.cancels);
  operation.done += done;
  operation.skipped += plan.orders() - done;  // These have moved on meanwhile.
  operation.failed += plan.failed;
  operation.place = plan.place;
  // Counting and carrying out look at different moments: some came, and some went before their
  // turn.
  operation.total = std::max(operation.total.value_or(0), handled(operation));
  if (!plan.last) {
    return operation;
  }
  operation.skipped += *operation.total - handled(operation);
  return finished(std::move(operation), now);
}

}  // namespace postrider
