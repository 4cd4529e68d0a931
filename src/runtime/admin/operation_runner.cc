#include "runtime/admin/operation_runner.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"
#include "runtime/store/idempotent_request.h"
#include "runtime/store/receipt_replies.h"

namespace postrider {
namespace {

namespace asio = boost::asio;

// The wall clock may be set; a start time is looked at again so often.
constexpr Micros start_check{std::chrono::seconds{30}};

Result<void> too_many(const std::vector<Operation>& unfinished) {
  if (unfinished.size() < unfinished_max) {
    return {};
  }
  return fail(Errc::conflict,
              fmt::format("There are {} operations waiting or running already; wait for some to "
                          "end or cancel some.",
                          unfinished.size()));
}

Result<void> still_going(const Operation& operation) {
  if (is_unfinished(operation.status)) {
    return {};
  }
  return fail(Errc::conflict, fmt::format("The operation is over: it is {}.",
                                          operation_statuses.name(operation.status)));
}

}  // namespace

struct OperationRunner::Run {
  Run(Operation taken, const OperationRunnerParts& parts)
      : operation(std::move(taken)),
        pace(make_pace(operation.spec, parts.clock->now().mono)),
        timer(*parts.io) {}

  Operation operation;  // As last stored; its place may be ahead.
  Pace pace;
  asio::steady_timer timer;
  PartialCount so_far;  // While the total is being counted.
  bool busy = false;    // A page or a chunk is on its way.
};

OperationRunner::OperationRunner(OperationRunnerParts parts) : parts_(std::move(parts)) {}
OperationRunner::~OperationRunner() = default;

Result<Operation> OperationRunner::add(const ChangeContext& context, const Operation& operation) {
  const auto write = [&]() -> Result<void> {
    POSTRIDER_TRY(const std::vector<Operation> others, context.store.operations->load_unfinished());
    POSTRIDER_CHECK(too_many(others));
    POSTRIDER_CHECK(take_request_key(context.store, context.entry));
    POSTRIDER_CHECK(context.store.operations->put(operation));
    return context.store.audit->append(context.entry);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  context.replies[parts_.worker].completions.push_back([this, operation] { take(operation); });
  return operation;
}

Result<Operation> OperationRunner::cancel(const ChangeContext& context, OperationId id) {
  Operation operation;
  const auto write = [&]() -> Result<void> {
    POSTRIDER_TRY(operation, context.store.operations->find(id));
    POSTRIDER_CHECK(still_going(operation));
    operation = cancelled(std::move(operation), context.entry.at);
    POSTRIDER_CHECK(context.store.operations->put(operation));
    return context.store.audit->append(context.entry);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  context.replies[parts_.worker].completions.push_back([this, id] { forget(id); });
  return operation;
}

void OperationRunner::resume(std::vector<Operation> unfinished) {
  asio::post(*parts_.io, [this, unfinished = std::move(unfinished)] {
    for (const Operation& operation : unfinished) {
      take(operation);
    }
  });
}

void OperationRunner::stop() {
  asio::post(*parts_.io, [this] {
    stopping_ = true;
    runs_.clear();
  });
}

void OperationRunner::take(Operation operation) {
  if (stopping_) {
    return;  // It is stored: the next start takes it on.
  }
  const OperationId id = operation.id;
  const auto [added, is_new] =
      runs_.emplace(id, std::make_unique<Run>(std::move(operation), parts_));
  if (is_new) {
    advance(*added->second);
  }
}

void OperationRunner::forget(OperationId id) {
  runs_.erase(id);
  for (const auto& [other, run] : runs_) {
    advance(*run);  // There may be room for one more.
  }
}

void OperationRunner::advance(Run& run) {
  if (run.busy || stopping_) {
    return;
  }
  const OperationMove move = next_move(run.operation, run.pace, parts_.clock->now());
  std::visit([this, &run](const auto& each) { make(run, each); }, move);
}

void OperationRunner::make(Run& run, const WaitForStart& move) {
  sleep(run, std::min<Micros>(move.at - parts_.clock->now().wall, start_check));
}

void OperationRunner::make(Run& run, const WaitForPace& move) {
  sleep(run, move.at - parts_.clock->now().mono);
}

void OperationRunner::make(Run& run, const Begin&) {
  const auto running = std::ranges::count_if(runs_, [](const auto& each) {
    return each.second->operation.status == OperationStatus::running || each.second->busy;
  });
  if (static_cast<std::size_t>(running) >= running_max) {
    return;  // `forget` and `changed` look again.
  }
  // When the wall clock was set back, what died a moment ago seems to be in the future.
  const Moment now = parts_.clock->now();
  change(run, [at = std::max(now.wall, now.steady)](Store&, Operation stored, Work&) {
    return Result<Operation>{begun(std::move(stored), at)};
  });
}

void OperationRunner::make(Run& run, const CountTotal&) {
  const Operation& operation = run.operation;
  const std::optional<std::int64_t> place = run.so_far.next;
  if (operation.kind != OperationKind::replay) {
    const auto query = [filter = dead_letters_of(operation), place](Reader& reader) {
      return reader.history->count_deliveries(filter, {.before = place});
    };
    return read<Result<PartialCount>>(run, query, [this](Run& still, const auto& part) {
      return part ? counted_on(still, part->count, part->next) : pause(still, part.error());
    });
  }
  // Whether the webhook wants an event depends on more than a store can count.
  const WebhookRef webhook = webhook_of(run);
  if (!webhook) {
    return;
  }
  const auto query =
      [id = webhook->id, filter = events_of(operation, *webhook),
       page = ForwardPage{.after = place.value_or(0), .limit = chunk_max}](Reader& reader) {
        return reader.history->list_events_for(id, filter, page);
      };
  read<Result<Listed<EventForWebhook>>>(run, query, [this, webhook](Run& still, const auto& page) {
    if (!page) {
      return pause(still, page.error());
    }
    counted_on(still, count_replayed(still.operation, *page, *webhook), page->next);
  });
}

void OperationRunner::make(Run& run, const TakeChunk& move) {
  const Operation& operation = run.operation;
  if (operation.kind == OperationKind::replay) {
    const WebhookRef webhook = webhook_of(run);
    if (!webhook) {
      return;
    }
    const auto query =
        [id = webhook->id, filter = events_of(operation, *webhook),
         page = ForwardPage{.after = operation.place, .limit = move.limit}](Reader& reader) {
          return reader.history->list_events_for(id, filter, page);
        };
    read<Result<Listed<EventForWebhook>>>(
        run, query, [this, orders_max = move.orders_max](Run& still, const auto& page) {
          carry_out(still, page, orders_max);
        });
    return;
  }
  Page page{.limit = move.limit};
  if (operation.place > 0) {
    page.before = operation.place;
  }
  const auto query = [filter = dead_letters_of(operation), page](Reader& reader) {
    return reader.history->list_deliveries(filter, page);
  };
  read<Result<Listed<DeliveryRecord>>>(
      run, query, [this, orders_max = move.orders_max](Run& still, const auto& found) {
        carry_out(still, found, orders_max);
      });
}

void OperationRunner::make(Run& run, const Rest&) { forget(OperationId{run.operation.id}); }

void OperationRunner::sleep(Run& run, Micros wait) {
  run.timer.expires_after(std::max(wait, Micros{0}));
  run.timer.async_wait([this, id = run.operation.id](const boost::system::error_code& error) {
    const auto found = runs_.find(id);
    if (!error && found != runs_.end()) {
      advance(*found->second);
    }
  });
}

WebhookRef OperationRunner::webhook_of(Run& run) {
  const std::vector<WebhookId>& ids = run.operation.spec.filter.webhook_ids;
  WebhookRef webhook = ids.empty() ? nullptr : parts_.directory()->find(ids.front());
  if (webhook && webhook->active) {
    return webhook;
  }
  const std::string why = webhook ? "The webhook is switched off; switch it on and replay again."
                                  : "The webhook has been deleted.";
  change(run, [why, now = parts_.clock->now().wall](Store&, Operation stored, Work&) {
    return Result<Operation>{failed(std::move(stored), why, now)};
  });
  return nullptr;
}

/// `query` on a reader thread, and `then` here, if the operation is still of interest.
template <class Answer, class Query, class Then>
void OperationRunner::read(Run& run, Query query, Then then) {
  run.busy = true;
  parts_.readers->submit([this, id = run.operation.id, query = std::move(query),
                          then = std::move(then)](Reader& reader) {
    auto answer = std::make_shared<Answer>(query(reader));
    asio::post(*parts_.io, [this, id, answer, then] {
      const auto found = runs_.find(id);
      if (found != runs_.end()) {
        found->second->busy = false;
        then(*found->second, *answer);
      }
    });
  });
}

void OperationRunner::counted_on(Run& run, std::uint64_t found, std::optional<std::int64_t> next) {
  run.so_far = {.count = run.so_far.count + found, .next = next};
  const Moment now = parts_.clock->now();
  if (next) {
    charge(run.pace, 0, now.mono);
    return advance(run);
  }
  const std::uint64_t total = std::exchange(run.so_far, {}).count;  // Anew when this fails.
  change(run, [total, wall = now.wall](Store&, Operation stored, Work&) {
    return Result<Operation>{counted(std::move(stored), total, wall)};
  });
}

template <class Item>
void OperationRunner::carry_out(Run& run, const Result<Listed<Item>>& page,
                                std::size_t orders_max) {
  if (!page) {
    return pause(run, page.error());
  }
  const Moment now = parts_.clock->now();
  if constexpr (std::is_same_v<Item, DeliveryRecord>) {
    const std::shared_ptr<const Directory> directory = parts_.directory();
    const DeadLetterContext context{.directory = *directory, .now = now, .orders_max = orders_max};
    commit(run, plan_dead_letters(run.operation, *page, context));
  } else if (const WebhookRef webhook = webhook_of(run)) {
    const ReplayContext context{
        .webhook = *webhook, .new_uuid = parts_.new_uuid, .now = now, .orders_max = orders_max};
    commit(run, plan_replay(run.operation, *page, context));
  }
}

void OperationRunner::commit(Run& run, ChunkPlan plan) {
  const Moment now = parts_.clock->now();
  charge(run.pace, plan.orders(), now.mono);
  if (plan.is_idle()) {
    run.operation.place = plan.place;
    return advance(run);
  }
  change(run,
         [plan = std::move(plan), wall = now.wall](Store& store, Operation stored,
                                                   Work& work) -> Result<Operation> {
           work.batch = plan.batch;
           POSTRIDER_TRY(work.receipt, store.ledger->commit(plan.batch));
           return after_chunk(std::move(stored), plan, work.receipt, wall);
         });
}

void OperationRunner::change(Run& run, Change change) {
  run.busy = true;
  auto job = [this, id = run.operation.id, change = std::move(change)](
                 Store& store, RepliesByShard& replies) -> Result<void> {
    Result<Operation> result = fail(Errc::unavailable, "The store did not answer.");
    Work work;
    const Result<void> stored = store.atomically([&]() -> Result<void> {
      POSTRIDER_TRY(Operation operation, store.operations->find(id));
      if (is_unfinished(operation.status)) {
        POSTRIDER_TRY(operation, change(store, std::move(operation), work));
        POSTRIDER_CHECK(store.operations->put(operation));
      }
      result = std::move(operation);
      return {};
    });
    if (stored) {
      notify_lanes(work.receipt, replies);
      count_changes(work.receipt, *parts_.metrics);
      parts_.on_committed(work.batch, work.receipt);
    } else {
      result = tl::make_unexpected(stored.error());
    }
    replies[parts_.worker].completions.push_back([this, id, result] { changed(id, result); });
    return stored;
  };
  parts_.store->submit(StoreTask{std::move(job)});
}

void OperationRunner::changed(OperationId id, const Result<Operation>& stored) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) {
    return;
  }
  Run& run = *found->second;
  run.busy = false;
  if (!stored) {
    return pause(run, stored.error());
  }
  const bool freed_a_place = run.operation.status == OperationStatus::running &&
                             stored->status != OperationStatus::running;
  run.operation = *stored;
  if (!freed_a_place) {
    return advance(run);
  }
  spdlog::info("operation.ended operation={} kind={} status={} done={} skipped={} failed={}",
               id.to_string(), operation_kinds.name(stored->kind),
               operation_statuses.name(stored->status), stored->done, stored->skipped,
               stored->failed);
  if (is_unfinished(stored->status)) {
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

void OperationRunner::pause(Run& run, const Error& error) {
  spdlog::warn("operation.paused operation={} reason=\"{}\"", run.operation.id.to_string(),
               log_safe(error.message));
  run.pace.not_before = parts_.clock->now().mono + failure_pause;
  advance(run);
}

}  // namespace postrider
