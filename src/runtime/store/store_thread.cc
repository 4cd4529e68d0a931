#include "runtime/store/store_thread.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/assert.h"
#include "core/base/overloaded.h"

#include "runtime/delivery/placement.h"
#include "runtime/store/receipt_replies.h"

namespace postrider {
namespace {

/// What callers are told. The cause is in the log: it may name a path or the database (P11).
constexpr std::string_view cannot_write = "The store cannot write at the moment. Retry soon.";

struct SettledLane {
  std::size_t worker = 0;
  std::vector<LaneDelivery> deliveries;
};

/// Which job each part of a batch came from, to route the parts of its receipt.
struct Origins {
  std::vector<PublishJob*> publishes;
  std::vector<SettledLane> settles;
  std::vector<ReviveJob*> revivals;
  std::vector<CancelJob*> cancels;

  [[nodiscard]] bool empty() const {
    return publishes.empty() && settles.empty() && revivals.empty() && cancels.empty();
  }
};

std::vector<LaneDelivery> deliveries_of(const std::vector<Settlement>& settlements) {
  std::vector<LaneDelivery> result;
  result.reserve(settlements.size());
  for (const Settlement& settlement : settlements) {
    result.push_back({settlement.delivery.webhook_id, settlement.delivery.id});
  }
  return result;
}

Origins gather(std::vector<StoreJob>& jobs, Batch& batch) {
  Origins origins;
  const auto collect = Overloaded{
      [&](PublishJob& job) {
        if (job.catalog_seen) {
          batch.catalog_seen =
              std::min(batch.catalog_seen.value_or(*job.catalog_seen), *job.catalog_seen);
        }
        std::move(job.publishes.begin(), job.publishes.end(), std::back_inserter(batch.publishes));
        origins.publishes.push_back(&job);
      },
      [&](SettleJob& job) {
        origins.settles.push_back({job.worker, deliveries_of(job.settlements)});
        std::move(job.settlements.begin(), job.settlements.end(),
                  std::back_inserter(batch.settlements));
      },
      [&](ReviveJob& job) {
        if (job.audit) {
          batch.audits.push_back({.entry = *std::move(job.audit),
                                  .revival = batch.revivals.size(),
                                  .cancel = std::nullopt});
        }
        batch.revivals.push_back(job.revive);
        origins.revivals.push_back(&job);
      },
      [&](CancelJob& job) {
        if (job.audit) {
          batch.audits.push_back({.entry = *std::move(job.audit),
                                  .revival = std::nullopt,
                                  .cancel = batch.cancels.size()});
        }
        batch.cancels.push_back(job.cancel);
        origins.cancels.push_back(&job);
      },
      [&](CircuitJob& job) { batch.circuits.push_back(job.save); },
      // Performed after the commit.
      [](LoadLaneJob&) {},
      [](LoadEventsJob&) {},
      [](StoreTask&) {},
  };
  for (StoreJob& job : jobs) {
    std::visit(collect, job);
  }
  return origins;
}

/// Runs `done(value)` on the io thread `origin`.
template <class Value>
void complete(RepliesByShard& replies, std::size_t origin, std::function<void(Value)>& done,
              Value value) {
  replies[origin].completions.push_back(
      [done = std::move(done), value = std::move(value)]() mutable { done(std::move(value)); });
}

void answer_publishes(const Origins& origins, Batch& batch, BatchReceipt& receipt,
                      RepliesByShard& replies) {
  std::size_t next = 0;
  for (PublishJob* job : origins.publishes) {
    const std::size_t count = job->publishes.size();
    std::vector<PublishReceipt> receipts;
    receipts.reserve(count);
    for (std::size_t i = 0; i < count; ++i, ++next) {
      if (const auto* accepted = std::get_if<Accepted>(&receipt.publishes[next])) {
        admit_deliveries(batch.publishes[next], *accepted, replies);
      }
      receipts.push_back(std::move(receipt.publishes[next]));
    }
    complete<Result<std::vector<PublishReceipt>>>(replies, job->origin, job->done,
                                                  std::move(receipts));
  }
}

void answer(Origins& origins, Batch& batch, BatchReceipt& receipt, RepliesByShard& replies) {
  answer_publishes(origins, batch, receipt, replies);
  for (SettledLane& lane : origins.settles) {
    replies[lane.worker].inputs.emplace_back(Settled{std::move(lane.deliveries)});
  }
  notify_lanes(receipt, replies);
  for (std::size_t i = 0; i < origins.revivals.size(); ++i) {
    complete(replies, origins.revivals[i]->origin, origins.revivals[i]->done,
             std::move(receipt.revivals[i]));
  }
  for (std::size_t i = 0; i < origins.cancels.size(); ++i) {
    complete(replies, origins.cancels[i]->origin, origins.cancels[i]->done,
             std::move(receipt.cancels[i]));
  }
}

void drop_admissions(RepliesByShard& replies) {
  for (ShardReplies& each : replies) {
    std::erase_if(each.inputs,
                  [](const Input& input) { return std::holds_alternative<Admitted>(input); });
  }
}

void answer_failure(Origins& origins, const Error& error, RepliesByShard& replies) {
  const tl::unexpected<Error> failure{error};
  for (PublishJob* job : origins.publishes) {
    complete<Result<std::vector<PublishReceipt>>>(replies, job->origin, job->done, failure);
  }
  for (SettledLane& lane : origins.settles) {
    replies[lane.worker].inputs.emplace_back(StoreFailed{std::move(lane.deliveries)});
  }
  for (ReviveJob* job : origins.revivals) {
    complete<Result<Delivery>>(replies, job->origin, job->done, failure);
  }
  for (CancelJob* job : origins.cancels) {
    complete<Result<Delivery>>(replies, job->origin, job->done, failure);
  }
}

std::size_t deliveries_of(const std::vector<Publish>& publishes) {
  std::size_t count = 0;
  for (const Publish& publish : publishes) {
    count += publish.deliveries.size();
  }
  return count;
}

std::size_t bytes_of(const std::vector<Publish>& publishes) {
  std::size_t bytes = 0;
  const std::vector<WebhookId>* list = nullptr;  // Events share it.
  for (const Publish& publish : publishes) {
    bytes += publish.event.data.size() +
             512;  // About what the rest of an event and its deliveries take.
    if (publish.fanout) {
      const std::vector<WebhookId>* own = publish.fanout->webhooks.get();
      bytes += publish.fanout->chosen.size() + (own == list ? 0 : own->size() * sizeof(WebhookId));
      list = own;
    }
  }
  return bytes;
}

}  // namespace

StoreThread::StoreThread(StoreThreadOptions options, Parts parts)
    : options_(options), parts_(std::move(parts)) {
  POSTRIDER_ASSERT(options_.worker_count > 0);
  POSTRIDER_ASSERT(parts_.owner != nullptr);
}

StoreThread::~StoreThread() { stop(); }

void StoreThread::start() {
  thread_ = std::thread{[this] { run(); }};
}

void StoreThread::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

bool StoreThread::try_publish(PublishJob&& job) {
  const std::size_t publishes = job.publishes.size();
  const std::size_t bytes = bytes_of(job.publishes);
  const std::size_t deliveries = deliveries_of(job.publishes);
  const MonoTime now = parts_.clock->now().mono;
  {
    const std::lock_guard lock{mutex_};
    if (publishes_queued_ + publishes > options_.publishes_queued_max ||
        publish_bytes_queued_ + bytes > options_.publish_bytes_queued_max) {
      return false;
    }
    publishes_queued_ += publishes;
    publish_bytes_queued_ += bytes;
    enqueue({.job = std::move(job),
             .since = now,
             .deliveries = deliveries,
             .publishes = publishes,
             .bytes = bytes});
  }
  wake_.notify_one();
  return true;
}

void StoreThread::submit(StoreJob job) {
  const auto* const publish = std::get_if<PublishJob>(&job);
  const std::size_t deliveries = publish != nullptr ? deliveries_of(publish->publishes) : 0;
  const MonoTime now = parts_.clock->now().mono;
  {
    const std::lock_guard lock{mutex_};
    enqueue({.job = std::move(job), .since = now, .deliveries = deliveries});
  }
  wake_.notify_one();
}

void StoreThread::enqueue(QueuedJob job) {
  meter_.request_queued();
  queue_.push_back(std::move(job));
}

std::optional<std::string> StoreThread::failure() const {
  const std::lock_guard lock{mutex_};
  return failure_;
}

void StoreThread::set_failure(std::optional<std::string> reason) {
  const std::lock_guard lock{mutex_};
  failure_ = std::move(reason);
}

void StoreThread::run() {
  while (wait_for_jobs()) {
    turn();
    meter_.use_ended();
  }
}

bool StoreThread::wait_for_jobs() {
  std::unique_lock lock{mutex_};
  if (broken_) {
    // Recovers even if no job arrives.
    wake_.wait_for(lock, options_.recover_pause, [this] { return stopping_; });
  } else {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  }
  return !stopping_ || !queue_.empty();
}

std::size_t StoreThread::count_fitting() const {
  std::size_t count = 0;
  std::size_t deliveries = 0;
  for (const QueuedJob& each : queue_) {
    deliveries += each.deliveries;
    if (count > 0 && deliveries > options_.turn_deliveries_max) {
      break;
    }
    ++count;
  }
  return count;
}

std::vector<StoreJob> StoreThread::take_jobs(bool all) {
  std::deque<QueuedJob> taken;
  const MonoTime now = parts_.clock->now().mono;
  {
    const std::lock_guard lock{mutex_};
    const std::size_t count = all ? queue_.size() : count_fitting();
    if (count == queue_.size()) {
      taken.swap(queue_);
      publishes_queued_ = 0;
      publish_bytes_queued_ = 0;
    }
    while (taken.size() < count) {
      publishes_queued_ -= queue_.front().publishes;
      publish_bytes_queued_ -= queue_.front().bytes;
      taken.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
  }
  meter_.use_begun(taken.size(), taken.empty() ? Micros{0} : now - taken.front().since);
  std::vector<StoreJob> jobs;
  jobs.reserve(taken.size());
  for (QueuedJob& each : taken) {
    jobs.push_back(std::move(each.job));
  }
  return jobs;
}

void StoreThread::turn() {
  RepliesByShard replies(options_.worker_count);
  const bool works = ready(replies);
  std::vector<StoreJob> jobs = take_jobs(!works);
  works ? commit(jobs, replies) : refuse(jobs, replies);
  // Reading and tasks may take milliseconds. Those whose work is on disk do not wait for it.
  deliver(replies);
  for (StoreJob& job : jobs) {
    perform(job, replies);
  }
  deliver(replies);
}

void StoreThread::deliver(RepliesByShard& replies) {
  deliver_replies(replies, [this](std::size_t worker, ShardReplies of_worker) {
    parts_.owner->deliver(worker, std::move(of_worker));
  });
}

bool StoreThread::ready(RepliesByShard& replies) {
  if (!broken_) {
    return true;
  }
  const Result<void> recovered = parts_.store.ledger->recover();
  // A batch that failed may be stored after all, so the lanes must look.
  const Result<std::vector<LaneBacklog>> backlog =
      recovered.and_then([this] { return parts_.store.ledger->backlog(); });
  const Result<void> counted =
      backlog.and_then([this](const std::vector<LaneBacklog>&) { return count_waiting(); });
  if (!counted) {
    count_failures(true);
    return false;
  }
  parts_.owner->store_recovered(*backlog, replies);
  broken_ = false;
  set_failure(std::nullopt);
  return true;
}

void StoreThread::refuse(std::vector<StoreJob>& jobs, RepliesByShard& replies) {
  Batch batch;
  Origins origins = gather(jobs, batch);
  keep_unsaved(batch.circuits);
  answer_failure(origins, {Errc::unavailable, std::string{cannot_write}}, replies);
}

/// Servers that share a store count again from time to time anyway, and not on this thread.
Result<void> StoreThread::count_waiting() {
  if (parts_.store.peers) {
    return {};
  }
  POSTRIDER_TRY(const TenantCounts waiting, parts_.store.ledger->count_waiting());
  parts_.metrics->waiting_counted(waiting);
  return {};
}

void StoreThread::commit(std::vector<StoreJob>& jobs, RepliesByShard& replies) {
  Batch batch;
  batch.circuits.swap(unsaved_circuits_);
  Origins origins = gather(jobs, batch);
  if (origins.empty() && batch.circuits.empty()) {
    return;
  }
  const Moment begun = parts_.clock->now();
  Result<BatchReceipt> receipt = parts_.store.ledger->commit(batch);
  if (receipt) {
    const Micros duration = parts_.clock->now().mono - begun.mono;
    parts_.metrics->committed({.publishes = batch.publishes.size(),
                               .settlements = batch.settlements.size(),
                               .duration = duration});
    if (parts_.tracer) {
      parts_.tracer->committed(batch, *receipt, {.begun = begun.wall, .duration = duration});
    }
    parts_.owner->batch_committed(batch, *receipt);
    count_changes(*receipt, *parts_.metrics);
    count_failures(false);
    if (std::ranges::any_of(receipt->publishes, [](const PublishReceipt& each) {
          return std::holds_alternative<Outdated>(each);
        })) {
      parts_.owner->catalog_changed(parts_.store, replies);
    }
    const Result<void> admissible = parts_.owner->before_admission(*receipt, parts_.store, replies);
    answer(origins, batch, *receipt, replies);
    if (!admissible) {
      drop_admissions(replies);
      fail_store(admissible.error().message);
    }
    return;
  }
  keep_unsaved(batch.circuits);
  fail_store(receipt.error().message);
  answer_failure(origins, {receipt.error().code, std::string{cannot_write}}, replies);
}

void StoreThread::fail_store(const std::string& reason) {
  broken_ = true;
  set_failure(reason);
  parts_.metrics->store_failed();
  parts_.owner->store_failed(reason);
  count_failures(true);
}

void StoreThread::count_failures(bool failed) {
  if (!failed && failures_in_row_ == 0) {
    return;
  }
  failures_in_row_ = failed ? failures_in_row_ + 1 : 0;
  parts_.owner->failures_counted(failures_in_row_);
}

void StoreThread::keep_unsaved(std::vector<SaveCircuit>& circuits) {
  std::move(circuits.begin(), circuits.end(), std::back_inserter(unsaved_circuits_));
  // Only the latest of each webhook is kept, so the list stays bounded during an outage.
  std::map<WebhookId, SaveCircuit> latest;
  for (SaveCircuit& circuit : unsaved_circuits_) {
    if (const auto earlier = latest.find(circuit.webhook_id); earlier != latest.end()) {
      add_unsaved_periods(circuit, earlier->second);
    }
    latest.insert_or_assign(circuit.webhook_id, std::move(circuit));
  }
  unsaved_circuits_.clear();
  for (auto& [webhook_id, circuit] : latest) {
    unsaved_circuits_.push_back(std::move(circuit));
  }
}

void StoreThread::drop_unsaved_circuits(ShardNumber shard) {
  std::erase_if(unsaved_circuits_, [shard](const SaveCircuit& circuit) {
    return shard_of(circuit.webhook_id) == shard;
  });
}

void StoreThread::perform(StoreJob& job, RepliesByShard& replies) {
  const auto act = Overloaded{
      [&](LoadLaneJob& load) {
        Result<LanePage> page = parts_.store.ledger->load_lane(load.query);
        std::vector<Input>& inputs = replies[load.worker].inputs;
        if (page) {
          inputs.emplace_back(LaneLoaded{.webhook_id = load.query.webhook_id,
                                         .deliveries = std::move(page->deliveries),
                                         .rest_due = page->rest_due});
        } else {
          inputs.emplace_back(LaneLoadFailed{load.query.webhook_id});
        }
      },
      [&](LoadEventsJob& load) {
        complete(replies, load.worker, load.done, parts_.store.ledger->load_events(load.ids));
      },
      [&](StoreTask& task) {
        const Result<void> done = task.run(parts_.store, replies);
        if (broken_) {
          return;  // Success says nothing about the store, and its failure is known.
        }
        if (done) {
          count_failures(false);
        } else if (done.error().code == Errc::unavailable) {
          fail_store(done.error().message);
        }
      },
      // Part of the commit.
      [](PublishJob&) {},
      [](SettleJob&) {},
      [](ReviveJob&) {},
      [](CancelJob&) {},
      [](CircuitJob&) {},
  };
  std::visit(act, job);
}

}  // namespace postrider
