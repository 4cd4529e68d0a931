#include "tests/simulation/sim_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/assert.h"

namespace postrider::sim {

SimStore::SimStore(MemoryStore& durable, Parts parts)
    : parts_(std::move(parts)),
      ledger_(make_memory_ledger(durable)),
      catalog_(make_memory_catalog(durable)) {}

void SimStore::submit(SimJob job) {
  queue_.push_back(std::move(job));
  if (!busy_) {
    begin_turn();
  }
}

void SimStore::begin_turn() {
  busy_ = true;
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
  const std::vector<SimJob> jobs = *std::exchange(under_way_, std::nullopt);
  if (broken_) {
    recover();
  }
  Batch batch = gather(jobs);
  std::move(unsaved_circuits_.begin(), unsaved_circuits_.end(), std::back_inserter(batch.circuits));
  unsaved_circuits_.clear();
  const bool fails = troubled_ && chance(parts_.scenario->commit_fails);
  if (fails) {
    if (chance(parts_.scenario->commit_ambiguous)) {
      POSTRIDER_ASSERT(ledger_->commit(batch).has_value());
    }
    unsaved_circuits_ = std::move(batch.circuits);
    broken_ = true;
    answer_failure(jobs);
  } else {
    const Result<BatchReceipt> receipt = ledger_->commit(batch);
    POSTRIDER_ASSERT(receipt.has_value());
    answer(jobs, *receipt);
    perform(jobs);
  }
  busy_ = false;
  if (broken_ || !queue_.empty()) {
    begin_turn();  // A broken store comes back by itself, even when nobody asks.
  }
}

void SimStore::recover() {
  broken_ = false;
  const Result<std::vector<LaneBacklog>> backlog = ledger_->backlog();
  POSTRIDER_ASSERT(backlog.has_value());
  parts_.recovered(*backlog);
}

Batch SimStore::gather(const std::vector<SimJob>& jobs) const {
  Batch batch;
  for (const SimJob& job : jobs) {
    if (const auto* publish = std::get_if<SimPublish>(&job)) {
      batch.publishes.push_back(publish->publish);
    } else if (const auto* settle = std::get_if<SimSettle>(&job)) {
      batch.settlements.push_back(settle->settlement);
    } else if (const auto* circuit = std::get_if<SimCircuit>(&job)) {
      batch.circuits.push_back(circuit->save);
    } else if (const auto* revive = std::get_if<SimRevive>(&job)) {
      batch.revivals.push_back(revive->revive);
    } else if (const auto* replay = std::get_if<SimReplay>(&job)) {
      std::ranges::copy(replay->revivals, std::back_inserter(batch.revivals));
      std::ranges::copy(replay->late_deliveries, std::back_inserter(batch.late_deliveries));
    } else if (const auto* cancel = std::get_if<SimCancel>(&job)) {
      batch.cancels.push_back(cancel->cancel);
    }
  }
  return batch;
}

void SimStore::answer(const std::vector<SimJob>& jobs, const BatchReceipt& receipt) {
  std::size_t next_publish = 0;
  for (const SimJob& job : jobs) {
    if (const auto* publish = std::get_if<SimPublish>(&job)) {
      const PublishReceipt& each = receipt.publishes[next_publish++];
      if (const auto* accepted = std::get_if<Accepted>(&each)) {
        for (const Delivery& delivery : accepted->deliveries) {
          parts_.tell(delivery.webhook_id, Admitted{{delivery}});
        }
      }
      publish->done(each);
    } else if (const auto* settle = std::get_if<SimSettle>(&job)) {
      const Delivery& delivery = settle->settlement.delivery;
      parts_.tell(delivery.webhook_id, Settled{{{delivery.webhook_id, delivery.id}}});
    }
  }
  for (const Delivery& delivery : receipt.revived_meanwhile) {
    parts_.tell(delivery.webhook_id, Admitted{{delivery}});
  }
  for (const Result<Delivery>& revived : receipt.revivals) {
    if (revived) {
      parts_.revived(*revived);
      parts_.tell(revived->webhook_id, Admitted{{*revived}});
    }
  }
  for (const std::optional<Delivery>& late : receipt.late_deliveries) {
    if (late) {
      parts_.tell(late->webhook_id, Admitted{{*late}});
    }
  }
  for (const Result<Delivery>& cancelled : receipt.cancels) {
    if (cancelled) {
      parts_.tell(cancelled->webhook_id, DeliveryCancelled{cancelled->webhook_id, cancelled->id});
    }
  }
}

void SimStore::answer_failure(const std::vector<SimJob>& jobs) {
  for (const SimJob& job : jobs) {
    if (const auto* publish = std::get_if<SimPublish>(&job)) {
      publish->done(fail(Errc::unavailable, "The disk failed."));
    } else if (const auto* settle = std::get_if<SimSettle>(&job)) {
      const Delivery& delivery = settle->settlement.delivery;
      parts_.tell(delivery.webhook_id, StoreFailed{{{delivery.webhook_id, delivery.id}}});
    } else if (const auto* load = std::get_if<SimLoad>(&job)) {
      parts_.tell(load->query.webhook_id, LaneLoadFailed{load->query.webhook_id});
    } else if (std::holds_alternative<SimCatalog>(job) ||
               std::holds_alternative<SimReschedule>(job)) {
      queue_.push_back(job);  // Whoever asked for the change asks again.
    }
  }
}

void SimStore::perform(const std::vector<SimJob>& jobs) {
  for (const SimJob& job : jobs) {
    if (const auto* load = std::get_if<SimLoad>(&job)) {
      Result<LanePage> page = ledger_->load_lane(load->query);
      POSTRIDER_ASSERT(page.has_value());
      parts_.tell(load->query.webhook_id, LaneLoaded{.webhook_id = load->query.webhook_id,
                                                     .deliveries = std::move(page->deliveries),
                                                     .rest_due = page->rest_due});
    } else if (const auto* step = std::get_if<SimReschedule>(&job)) {
      reschedule(step->order);
    } else if (const auto* catalog = std::get_if<SimCatalog>(&job)) {
      catalog->run(*catalog_);
    }
  }
}

void SimStore::reschedule(BringForward order) {
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
    queue_.push_back(SimReschedule{order});
  } else {
    parts_.rescheduled(order.webhook_id);
  }
  parts_.tell(order.webhook_id, Rescheduled{order.webhook_id, std::move(done->moved)});
}

void SimStore::crash() {
  ++life_;
  queue_.clear();
  unsaved_circuits_.clear();
  broken_ = false;
  busy_ = false;
  if (under_way_ && chance(500)) {
    POSTRIDER_ASSERT(ledger_->commit(gather(*under_way_)).has_value());
  }
  under_way_.reset();
}

}  // namespace postrider::sim
