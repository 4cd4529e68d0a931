#include "runtime/admin/operation_runner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"
#include "runtime/store/idempotent_request.h"
#include "runtime/store/receipt_replies.h"

namespace postrider {
namespace {

// The wall clock may be set while an operation waits for its start, so the wait is split.
constexpr Micros start_check_period{std::chrono::seconds{30}};

Result<void> check_unfinished(const Operation& operation) {
  if (is_unfinished(operation.status)) {
    return {};
  }
  return fail(Errc::conflict, fmt::format("The operation has ended: it is {}.",
                                          operation_statuses.name(operation.status)));
}

}  // namespace

struct OperationRunner::Run {
  Run(Operation to_run, const OperationRunnerParts& parts)
      : operation(std::move(to_run)),
        pace(make_pace(operation.spec, parts.clock->now().mono)),
        timer(parts.loop->make_timer()) {}

  Operation operation;  // As last stored, but `place` may be further.
  Pace pace;
  std::unique_ptr<EventLoop::Timer> timer;
  PartialCount so_far;  // While the total is being counted.
  bool busy = false;    // Waits for a reader or for the store thread.
};

OperationRunner::OperationRunner(OperationRunnerParts parts)
    : parts_(std::move(parts)), suspended_(parts_.leader != nullptr && !parts_.leader->is_set()) {}
OperationRunner::~OperationRunner() = default;

Result<Operation> OperationRunner::add(const ChangeContext& context, const Operation& operation,
                                       const ShareOwner& starter,
                                       const std::optional<RequestKey>& key) {
  const auto write = [&]() -> Result<void> {
    POSTRIDER_TRY(const std::vector<Operation> others, context.store.operations->load_unfinished());
    POSTRIDER_CHECK(check_room(others, operation, starter));
    POSTRIDER_CHECK(
        take_request_key(context.store, key, operation.id.to_string(), context.entry.at));
    POSTRIDER_CHECK(context.store.operations->put(operation));
    return context.store.audit->append(context.entry);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  context.replies[parts_.worker].completions.push_back([this, operation] { start_run(operation); });
  return operation;
}

Result<Operation> OperationRunner::cancel(const ChangeContext& context, OperationId id) {
  Operation operation;
  const auto write = [&]() -> Result<void> {
    POSTRIDER_TRY(operation, context.store.operations->find(id));
    POSTRIDER_CHECK(check_unfinished(operation));
    operation = cancel_run(std::move(operation), context.entry.at);
    POSTRIDER_CHECK(context.store.operations->put(operation));
    return context.store.audit->append(context.entry);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  context.replies[parts_.worker].completions.push_back([this, id] { remove_run(id); });
  return operation;
}

void OperationRunner::resume(std::vector<Operation> unfinished) {
  parts_.loop->post([this, unfinished = std::move(unfinished)] {
    suspended_ = false;
    for (const Operation& operation : unfinished) {
      start_run(operation);
    }
  });
}

void OperationRunner::suspend() {
  parts_.loop->post([this] {
    suspended_ = true;
    runs_.clear();
  });
}

void OperationRunner::stop() {
  parts_.loop->post([this] {
    stopping_ = true;
    runs_.clear();
  });
}

void OperationRunner::start_run(Operation operation) {
  if (stopping_ || suspended_) {
    return;  // It is stored; the next start of the server or another server runs it.
  }
  const OperationId id = operation.id;
  const auto [added, is_new] =
      runs_.emplace(id, std::make_unique<Run>(std::move(operation), parts_));
  if (is_new) {
    advance(*added->second);
  }
}

void OperationRunner::remove_run(OperationId id) {
  runs_.erase(id);
  for (const auto& [other, run] : runs_) {
    advance(*run);  // It may have waited for a free place.
  }
}

void OperationRunner::advance(Run& run) {
  if (run.busy || stopping_) {
    return;
  }
  const OperationStep step = next_step(run.operation, run.pace, parts_.clock->now());
  std::visit([this, &run](const auto& each) { perform(run, each); }, step);
}

void OperationRunner::perform(Run& run, const WaitForStart& step) {
  sleep(run, std::min<Micros>(step.at - parts_.clock->now().wall, start_check_period));
}

void OperationRunner::perform(Run& run, const WaitForPace& step) {
  sleep(run, step.at - parts_.clock->now().mono);
}

void OperationRunner::perform(Run& run, const Begin&) {
  std::vector<ShareOwner> running;
  for (const auto& [id, other] : runs_) {
    if (is_requeueing(other->operation) || other->busy) {
      running.push_back(owner_of(other->operation));
    }
  }
  if (!may_begin(running, owner_of(run.operation))) {
    return;  // `remove_run` and `on_changed` advance it again.
  }
  // After the wall clock was set back, recent dead letters are dated in the future.
  const Moment now = parts_.clock->now();
  change(run, [at = std::max(now.wall, now.steady)](Store&, Operation stored, Committed&) {
    return Result<Operation>{postrider::start_run(std::move(stored), at)};
  });
}

void OperationRunner::perform(Run& run, const CountTotal&) {
  const Operation& operation = run.operation;
  const std::optional<std::int64_t> place = run.so_far.next;
  if (operation.kind != OperationKind::replay) {
    const auto query = [filter = dead_letters_of(operation), place](Reader& reader) {
      return reader.history->count_deliveries(filter, {.before = place});
    };
    return read<Result<PartialCount>>(run, query, [this](Run& current, const auto& part) {
      return part ? add_count(current, part->count, part->next)
                  : retry_later(current, part.error());
    });
  }
  // Whether the webhook wants an event depends on more than a store can count.
  if (const WebhookRef webhook = replayed_webhook(run)) {
    count_replay(run, webhook, place.value_or(0));
  }
}

void OperationRunner::count_replay(Run& run, const WebhookRef& webhook, std::int64_t place) {
  const ForwardPage page{.after = place, .limit = chunk_max};
  const auto query = [operation = run.operation, webhook,
                      page](Reader& reader) -> Result<PartialCount> {
    const EventFilter filter = events_of(operation, *webhook);
    POSTRIDER_TRY(const Listed<EventForWebhook> events,
                  reader.history->list_events_for(webhook->id, filter, page));
    return PartialCount{.count = count_replayed(operation, events, *webhook), .next = events.next};
  };
  read<Result<PartialCount>>(run, query, [this](Run& current, const auto& part) {
    return part ? add_count(current, part->count, part->next) : retry_later(current, part.error());
  });
}

void OperationRunner::perform(Run& run, const TakeChunk& step) {
  const Operation& operation = run.operation;
  if (operation.kind == OperationKind::replay) {
    if (const WebhookRef webhook = replayed_webhook(run)) {
      take_replay(run, webhook, step);
    }
    return;
  }
  Page page{.limit = step.limit};
  if (operation.place > 0) {
    page.before = operation.place;
  }
  const auto query = [filter = dead_letters_of(operation), page](Reader& reader) {
    return reader.history->list_deliveries(filter, page);
  };
  read<Result<Listed<DeliveryRecord>>>(
      run, query, [this, actions_max = step.actions_max](Run& current, const auto& found) {
        commit_page(current, found, actions_max);
      });
}

void OperationRunner::take_replay(Run& run, const WebhookRef& webhook, const TakeChunk& step) {
  const auto query = [operation = run.operation, webhook, step, clock = parts_.clock,
                      new_uuid = parts_.new_uuid](Reader& reader) -> Result<ChunkPlan> {
    const EventFilter filter = events_of(operation, *webhook);
    const ForwardPage page{.after = operation.place, .limit = step.limit};
    POSTRIDER_TRY(const Listed<EventForWebhook> events,
                  reader.history->list_events_for(webhook->id, filter, page));
    const ReplayContext context{.webhook = *webhook,
                                .new_uuid = new_uuid,
                                .now = clock->now(),
                                .actions_max = step.actions_max};
    return plan_replay(operation, events, context);
  };
  read<Result<ChunkPlan>>(run, query, [this, webhook](Run& current, const auto& plan) {
    if (!plan) {
      return retry_later(current, plan.error());
    }
    const WebhookRef now = replayed_webhook(current);
    if (now == webhook) {
      commit(current, *plan);
    } else if (now) {
      advance(current);  // It was changed meanwhile: plan again.
    }
  });
}

void OperationRunner::perform(Run& run, const Done&) { remove_run(OperationId{run.operation.id}); }

void OperationRunner::sleep(Run& run, Micros wait) {
  run.timer->start(wait, [this, id = run.operation.id] {
    const auto found = runs_.find(id);
    if (found != runs_.end()) {
      advance(*found->second);
    }
  });
}

WebhookRef OperationRunner::replayed_webhook(Run& run) {
  const std::vector<WebhookId>& ids = run.operation.spec.filter.webhook_ids;
  WebhookRef webhook = ids.empty() ? nullptr : parts_.changes->directory()->find(ids.front());
  if (webhook && webhook->active) {
    return webhook;
  }
  const std::string why =
      webhook ? "The webhook is switched off. Switch it on and start the replay again."
              : "The webhook has been deleted.";
  change(run, [why, now = parts_.clock->now().wall](Store&, Operation stored, Committed&) {
    return Result<Operation>{fail_run(std::move(stored), why, now)};
  });
  return nullptr;
}

/// Runs `query` on a reader thread, and then `then` on the loop if the operation still runs.
template <class Answer, class Query, class Then>
void OperationRunner::read(Run& run, Query query, Then then) {
  run.busy = true;
  auto job = [this, id = run.operation.id, query = std::move(query),
              then = std::move(then)](Reader& reader) {
    auto answer = std::make_shared<Answer>(query(reader));
    parts_.loop->post([this, id, answer, then] {
      const auto found = runs_.find(id);
      if (found != runs_.end()) {
        found->second->busy = false;
        then(*found->second, *answer);
      }
    });
  };
  parts_.readers->submit(std::move(job), owner_of(run.operation));
}

void OperationRunner::add_count(Run& run, std::uint64_t found, std::optional<std::int64_t> next) {
  run.so_far = {.count = run.so_far.count + found, .next = next};
  const Moment now = parts_.clock->now();
  if (next) {
    charge(run.pace, 0, now.mono);
    return advance(run);
  }
  // If storing the total fails, it is counted again from the start.
  const std::uint64_t total = std::exchange(run.so_far, {}).count;
  change(run, [total, wall = now.wall](Store&, Operation stored, Committed&) {
    return Result<Operation>{set_total(std::move(stored), total, wall)};
  });
}

void OperationRunner::commit_page(Run& run, const Result<Listed<DeliveryRecord>>& page,
                                  std::size_t actions_max) {
  if (!page) {
    return retry_later(run, page.error());
  }
  const std::shared_ptr<const Directory> directory = parts_.changes->directory();
  const DeadLetterContext context{
      .directory = *directory, .now = parts_.clock->now(), .actions_max = actions_max};
  commit(run, plan_dead_letters(run.operation, *page, context));
}

void OperationRunner::commit(Run& run, ChunkPlan plan) {
  const Moment now = parts_.clock->now();
  charge(run.pace, plan.action_count(), now.mono);
  if (plan.is_idle()) {
    run.operation.place = plan.place;
    return advance(run);
  }
  change(run,
         [plan = std::move(plan), wall = now.wall](Store& store, Operation stored,
                                                   Committed& committed) -> Result<Operation> {
           committed.batch = plan.batch;
           POSTRIDER_TRY(committed.receipt, store.ledger->commit(plan.batch));
           return after_chunk(std::move(stored), plan, committed.receipt, wall);
         });
}

Result<Operation> OperationRunner::change_stored(Store& store, OperationId id, const Change& change,
                                                 Committed& committed) {
  committed = {};
  POSTRIDER_TRY(Operation operation, store.operations->find(id));
  if (has_work(operation)) {
    POSTRIDER_TRY(operation, change(store, std::move(operation), committed));
    POSTRIDER_CHECK(store.operations->put(operation));
  }
  return operation;
}

void OperationRunner::change(Run& run, Change change) {
  run.busy = true;
  auto job = [this, id = run.operation.id, change = std::move(change)](
                 Store& store, RepliesByShard& replies) -> Result<void> {
    if (parts_.leader != nullptr && !parts_.leader->is_set()) {
      return {};  // `suspend` ends the run.
    }
    Result<Operation> result = fail(Errc::unavailable, "The store did not answer.");
    Committed committed;
    const Result<void> stored = store.atomically([&] {
      result = change_stored(store, id, change, committed);
      return result.map([](const Operation&) {});
    });
    if (stored) {
      notify_lanes(committed.receipt, replies);
      count_changes(committed.receipt, *parts_.metrics);
      parts_.stream->publish(committed.batch, committed.receipt);
      if (parts_.committed) {
        parts_.committed(committed.batch, committed.receipt);
      }
      if (parts_.ended && !is_unfinished(result->status)) {
        parts_.ended(*result);
      }
    } else {
      result = tl::make_unexpected(stored.error());
    }
    replies[parts_.worker].completions.push_back([this, id, result] { on_changed(id, result); });
    return stored;
  };
  parts_.store->submit(StoreTask{std::move(job)});
}

void OperationRunner::on_changed(OperationId id, const Result<Operation>& stored) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) {
    return;
  }
  Run& run = *found->second;
  run.busy = false;
  if (!stored) {
    return retry_later(run, stored.error());
  }
  const bool freed_a_place = is_requeueing(run.operation) && !is_requeueing(*stored);
  run.operation = *stored;
  if (!freed_a_place) {
    return advance(run);
  }
  spdlog::info(
      "operation.ended operation={} kind={} state={} done={} skipped={} failed={} waiting={}",
      id.to_string(), operation_kinds.name(stored->kind), operation_statuses.name(stored->status),
      stored->done, stored->skipped, stored->failed, stored->outcomes.waiting());
  if (has_work(*stored)) {
    advance(run);
  } else {
    runs_.erase(found);
  }
  for (const auto& [other, waiting] : runs_) {
    if (other != id) {
      advance(*waiting);
    }
  }
}

void OperationRunner::retry_later(Run& run, const Error& error) {
  spdlog::warn("operation.paused operation={} reason=\"{}\"", run.operation.id.to_string(),
               log_safe(error.message));
  run.pace.not_before = parts_.clock->now().mono + failure_pause;
  advance(run);
}

}  // namespace postrider
