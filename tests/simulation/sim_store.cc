#include "tests/simulation/sim_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/assert.h"
#include "core/base/overloaded.h"

#include "runtime/delivery/placement.h"
#include "runtime/store/receipt_replies.h"

namespace postrider::sim {
namespace {

// How often payloads cannot be read, per mille.
constexpr std::uint32_t event_loads_failing = 30;

Batch gather(const std::vector<SimJob>& jobs) {
  Batch batch;
  const auto collect = Overloaded{
      [&](const SimPublish& job) {
        batch.publishes.push_back(job.publish);
        if (job.planned_with) {
          batch.catalog_seen =
              std::min(*job.planned_with, batch.catalog_seen.value_or(*job.planned_with));
        }
      },
      [&](const SimSettle& job) {
        std::ranges::copy(job.settlements, std::back_inserter(batch.settlements));
      },
      [&](const SimCircuit& job) { batch.circuits.push_back(job.save); },
      [&](const SimRevive& job) { batch.revivals.push_back(job.revive); },
      [&](const SimReplay& job) {
        std::ranges::copy(job.revivals, std::back_inserter(batch.revivals));
        std::ranges::copy(job.late_deliveries, std::back_inserter(batch.late_deliveries));
      },
      [&](const SimCancel& job) { batch.cancels.push_back(job.cancel); },
      // Performed after the commit.
      [](const SimLoadLane&) {},
      [](const SimLoadEvents&) {},
      [](const SimReschedule&) {},
      [](const SimFanOut&) {},
      [](const SimCatalog&) {},
  };
  for (const SimJob& job : jobs) {
    std::visit(collect, job);
  }
  return batch;
}

std::vector<LaneDelivery> deliveries_of(const SimSettle& job) {
  std::vector<LaneDelivery> deliveries;
  for (const Settlement& settlement : job.settlements) {
    deliveries.push_back({settlement.delivery.webhook_id, settlement.delivery.id});
  }
  return deliveries;
}

}  // namespace

SimStore::SimStore(std::unique_ptr<Ledger> ledger, std::unique_ptr<Catalog> catalog, Parts parts)
    : parts_(std::move(parts)), ledger_(std::move(ledger)), catalog_(std::move(catalog)) {}

void SimStore::submit(SimJob job) {
  queue_.push_back(std::move(job));
  if (!busy_) {
    begin_turn();
  }
}

void SimStore::begin_turn() {
  busy_ = true;
  request_lost_ = parts_.is_cut_off();
  under_way_ = std::exchange(queue_, {});
  const auto longest = static_cast<std::uint64_t>(Micros{parts_.scenario->commit_time_max}.count());
  const Micros time{static_cast<std::int64_t>(parts_.random->below(longest + 1))};
  parts_.timeline->after(time, [this, life = life_] {
    if (life == life_) {
      end_turn();
    }
  });
}

void SimStore::end_turn() {
  std::vector<SimJob> jobs = *std::exchange(under_way_, std::nullopt);
  auto replies = std::make_shared<RepliesByShard>(parts_.scenario->shard_count);
  const bool is_cut_off = parts_.is_cut_off();
  if (broken_ && !is_cut_off) {
    recover(*replies);
  }
  if (is_cut_off && (request_lost_ || broken_)) {
    std::ranges::copy(gather(jobs).circuits, std::back_inserter(unsaved_circuits_));
    fail(jobs, *replies);
  } else {
    commit(jobs, *replies);
  }
  parts_.arrive([this, life = life_, replies] {
    if (life == life_) {
      finish_turn(*replies);
    }
  });
}

void SimStore::finish_turn(RepliesByShard& replies) {
  for (const std::function<void()>& done : std::exchange(done_, {})) {
    done();
  }
  for (std::size_t shard = 0; shard < replies.size(); ++shard) {
    if (!replies[shard].empty()) {
      parts_.deliver(shard, std::move(replies[shard]));
    }
  }
  busy_ = false;
  if (broken_ || !queue_.empty()) {
    begin_turn();  // A broken store recovers by itself, even if no job arrives.
  }
}

void SimStore::commit(std::vector<SimJob>& jobs, RepliesByShard& replies) {
  Batch batch = gather(jobs);
  std::ranges::copy(std::exchange(unsaved_circuits_, {}), std::back_inserter(batch.circuits));
  if (parts_.is_cut_off() || (troubled_ && chance(parts_.scenario->commit_fails))) {
    if (chance(parts_.scenario->commit_ambiguous)) {
      POSTRIDER_ASSERT(ledger_->commit(batch).has_value());
    }
    unsaved_circuits_ = std::move(batch.circuits);
    fail(jobs, replies);
    return;
  }
  Result<BatchReceipt> receipt = ledger_->commit(batch);
  POSTRIDER_ASSERT(receipt.has_value());
  answer(jobs, batch, *receipt, replies);
  perform(jobs, replies);
}

void SimStore::fail(std::vector<SimJob>& jobs, RepliesByShard& replies) {
  broken_ = true;
  answer_failure(jobs, replies);
}

void SimStore::recover(RepliesByShard& replies) {
  broken_ = false;
  const Result<std::vector<LaneBacklog>> backlog = ledger_->backlog();
  POSTRIDER_ASSERT(backlog.has_value());
  parts_.recovered(*backlog, replies);
  resume_fanouts();
}

void SimStore::resume_fanouts() {
  turns_.reset(ledger_->open_fanouts().value());
  queue_fan_out();
}

void SimStore::queue_fan_out() {
  if (!fan_out_queued_ && turns_.next()) {
    fan_out_queued_ = true;
    submit(SimFanOut{});
  }
}

/// A step that fails may be stored, like a commit.
void SimStore::fan_out(RepliesByShard& replies) {
  fan_out_queued_ = false;
  const std::optional<TenantId> tenant_id = turns_.next();
  const bool fails = troubled_ && chance(parts_.scenario->commit_fails);
  broken_ = broken_ || fails;
  if (!tenant_id || (fails && !chance(parts_.scenario->commit_ambiguous))) {
    return;
  }
  Result<FannedOut> done =
      ledger_->fan_out({.tenant_id = *tenant_id,
                        .limit = parts_.scenario->fanout_step_max,
                        .now = parts_.timeline->now().wall,
                        .due_max = parts_.timeline->now().steady,
                        .exists = [this](WebhookId id) { return parts_.webhook(id) != nullptr; },
                        .new_id = parts_.new_delivery_id});
  POSTRIDER_ASSERT(done.has_value());
  if (fails) {
    return;
  }
  std::uint64_t made = done->left_out;
  for (FannedOut::Part& part : done->parts) {
    made += part.deliveries.size();
    admit_event(std::make_shared<const Event>(std::move(part.event)), part.deliveries, replies);
  }
  turns_.end_turn(*tenant_id, made, done->finished);
  queue_fan_out();
}

void SimStore::answer(std::vector<SimJob>& jobs, Batch& batch, BatchReceipt& receipt,
                      RepliesByShard& replies) {
  for (const auto& [tenant_id, deliveries] : receipt.fanouts) {
    turns_.add(tenant_id, deliveries);
  }
  queue_fan_out();
  parts_.committed(replies);
  std::size_t next_publish = 0;
  for (SimJob& job : jobs) {
    if (auto* publish = std::get_if<SimPublish>(&job)) {
      const PublishReceipt& each = receipt.publishes[next_publish];
      if (const auto* accepted = std::get_if<Accepted>(&each)) {
        admit_deliveries(batch.publishes[next_publish], *accepted, replies);
      }
      done_.emplace_back([done = std::move(publish->done), each] { done(each); });
      ++next_publish;
    } else if (const auto* settle = std::get_if<SimSettle>(&job)) {
      replies[settle->shard].inputs.emplace_back(Settled{deliveries_of(*settle)});
    }
  }
  for (const Result<Delivery>& revived : receipt.revivals) {
    if (revived) {
      parts_.revived(*revived);
    }
  }
  notify_lanes(receipt, replies);
}

void SimStore::answer_failure(std::vector<SimJob>& jobs, RepliesByShard& replies) {
  std::vector<SimJob> again;
  const auto refuse = Overloaded{
      [this](SimPublish& job) {
        done_.emplace_back([done = std::move(job.done)] {
          done(postrider::fail(Errc::unavailable, "The disk failed."));
        });
      },
      [&](SimSettle& job) {
        replies[job.shard].inputs.emplace_back(StoreFailed{deliveries_of(job)});
      },
      [&](SimLoadLane& job) {
        replies[job.shard].inputs.emplace_back(LaneLoadFailed{job.query.webhook_id});
      },
      [&](SimLoadEvents& job) {
        replies[job.shard].completions.push_back(
            [done = job.done] { done(postrider::fail(Errc::unavailable, "The disk failed.")); });
      },
      // Their callers try again.
      [this](SimReschedule& job) { queue_.emplace_back(job); },
      [this](SimFanOut&) { fan_out_queued_ = false; },
      [&](SimCatalog& job) { again.emplace_back(job); },
      // Their callers give up. Circuits are kept by `commit`.
      [](SimCircuit&) {},
      [](SimRevive&) {},
      [](SimReplay&) {},
      [](SimCancel&) {},
  };
  for (SimJob& job : jobs) {
    std::visit(refuse, job);
  }
  queue_.insert(queue_.begin(), again.begin(), again.end());
}

void SimStore::perform(std::vector<SimJob>& jobs, RepliesByShard& replies) {
  const auto act = Overloaded{
      [&](SimLoadLane& job) { load_lane(job.query, replies[job.shard]); },
      [&](SimLoadEvents& job) { load_events(job, replies[job.shard]); },
      [&](SimReschedule& job) { reschedule(job.order, replies); },
      [&](SimFanOut&) { fan_out(replies); },
      [&](SimCatalog& job) { job.run(*catalog_, replies); },
      // Part of the commit.
      [](SimPublish&) {},
      [](SimSettle&) {},
      [](SimCircuit&) {},
      [](SimRevive&) {},
      [](SimReplay&) {},
      [](SimCancel&) {},
  };
  for (SimJob& job : jobs) {
    std::visit(act, job);
  }
}

void SimStore::load_lane(const LoadLane& query, ShardReplies& replies) {
  Result<LanePage> page = ledger_->load_lane(query);
  POSTRIDER_ASSERT(page.has_value());
  replies.inputs.emplace_back(LaneLoaded{.webhook_id = query.webhook_id,
                                         .deliveries = std::move(page->deliveries),
                                         .rest_due = page->rest_due});
}

void SimStore::load_events(SimLoadEvents& load, ShardReplies& replies) {
  Result<std::vector<Event>> events = ledger_->load_events(load.ids);
  if (troubled_ && chance(event_loads_failing)) {
    events = postrider::fail(Errc::unavailable, "The disk failed.");
  }
  replies.completions.push_back([done = load.done, events = std::move(events)] { done(events); });
}

void SimStore::reschedule(BringForward order, RepliesByShard& replies) {
  const std::shared_ptr<const Webhook> webhook = parts_.webhook(order.webhook_id);
  if (!webhook) {
    return;
  }
  order.policy = webhook->retry;
  order.now = parts_.timeline->now().steady;
  Result<BroughtForward> done = ledger_->bring_forward(order);
  POSTRIDER_ASSERT(done.has_value());
  if (done->next) {
    order.after = done->next;
    queue_.emplace_back(SimReschedule{order});
  } else {
    parts_.rescheduled(order.webhook_id);
  }
  replies[worker_of(order.webhook_id, replies.size())].inputs.emplace_back(
      Rescheduled{order.webhook_id, std::move(done->moved)});
}

void SimStore::forget_circuits(ShardNumber shard) {
  std::erase_if(unsaved_circuits_,
                [shard](const SaveCircuit& save) { return shard_of(save.webhook_id) == shard; });
}

void SimStore::crash() {
  ++life_;
  queue_.clear();
  unsaved_circuits_.clear();
  done_.clear();
  turns_ = {};
  fan_out_queued_ = false;
  broken_ = false;
  busy_ = false;
  if (under_way_ && !request_lost_ && chance(500)) {
    POSTRIDER_ASSERT(ledger_->commit(gather(*under_way_)).has_value());
  }
  under_way_.reset();
}

}  // namespace postrider::sim
