// The server in the simulated world: it boots, crashes and drains.
#include <utility>

#include "runtime/delivery/placement.h"

#include "tests/simulation/world_state.h"

namespace postrider::sim {

void World::boot() {
  note("boot");
  timeline_.forget_wall();
  ++life_;
  up_ = true;
  draining_ = false;
  drained_count_ = 0;
  in_flight_ = 0;
  allowance_ = std::make_unique<SharedAllowance>(
      limits_of(scenario_.shard), scenario_.shard_count,
      [this](std::size_t shard, const SlotReserved& reserved) {
        in_this_life(handover_delay(),
                     [this, shard, reserved] { workers_[shard]->host().feed(reserved); });
      });
  for (std::size_t shard = 0; shard < scenario_.shard_count; ++shard) {
    workers_.push_back(
        std::make_unique<SimWorker>(SimWorkerParts{.home = *this,
                                                   .scenario = scenario_,
                                                   .random = random_,
                                                   .clock = clock_,
                                                   .allowance = allowance_->of(shard),
                                                   .metrics = *metrics_,
                                                   .stream = stream_},
                                    shard, scenario_.seed + life_ * 100 + shard));
  }
  load_lanes();
  for (const WebhookId id : durable_.rescheduling) {
    reschedule(id);
  }
  store_.resume_fanouts();
}

/// Tells every lane about its webhook, as a node does when it starts.
void World::load_lanes() {
  std::vector<WebhookRef> webhooks;
  for (const auto& [id, webhook] : durable_.webhooks) {
    webhooks.push_back(std::make_shared<const Webhook>(webhook));
  }
  directory_ = Directory{webhooks};
  const auto backlog = make_memory_ledger(durable_)->backlog();
  for (const WebhookRef& webhook : webhooks) {
    WebhookChanged changed{.webhook = webhook, .at_start = true};
    if (const auto circuit = durable_.circuits.find(webhook->id);
        circuit != durable_.circuits.end()) {
      changed.circuit = circuit->second;
    }
    const CallsToRestore which = calls_to_restore(changed.circuit.value_or(CircuitRecord{}),
                                                  webhook->breaker, timeline_.now().steady);
    changed.past_calls = *make_memory_ledger(durable_)->recent_calls(webhook->id, which);
    for (const LaneBacklog& lane : *backlog) {
      if (lane.webhook_id == webhook->id) {
        changed.backlog_due = lane.due;
      }
    }
    feed(webhook->id, std::move(changed));
  }
  for (const LaneBacklog& lane : *backlog) {
    if (!directory_.find(lane.webhook_id)) {
      cancel_waiting(lane.webhook_id);
    }
  }
}

void World::crash() {
  if (!up_) {
    return;
  }
  note("crash");
  up_ = false;
  ++life_;
  store_.crash();
  workers_.clear();
  checks_.crashed();
  checks_.check_store();
  timeline_.after(Micros{static_cast<std::int64_t>(random_.below(5'000'000))}, [this] { boot(); });
}

void World::begin_drain() {
  if (!up_ || draining_) {
    return;
  }
  note("drain");
  draining_ = true;
  for (const auto& worker : workers_) {
    worker->host().feed(DrainRequested{});
  }
  if (random_.below(2) == 0) {
    in_this_life(Micros{static_cast<std::int64_t>(random_.below(2'000'000))},
                 [this] { abandon(); });
  }
  in_this_life(drain_deadline, [this] { end_drain(); });
}

void World::abandon() {
  note("abandon");
  for (const auto& worker : workers_) {
    worker->host().abandon();
  }
}

void World::shard_drained() {
  if (++drained_count_ == workers_.size()) {
    in_this_life(Micros{1}, [this] { end_drain(); });
  }
}

void World::end_drain() {
  // By now every attempt has timed out.
  if (drained_count_ < workers_.size() && scenario_.commit_fails == 0) {
    checks_.drain_overdue();
  }
  crash();  // The rest is the same: the process is gone.
}

void World::feed(WebhookId webhook_id, Input input) {
  if (up_) {
    workers_[worker_of(webhook_id, workers_.size())]->host().feed(std::move(input));
  }
}

void World::deliver(std::size_t shard, ShardReplies replies) {
  if (up_) {
    workers_[shard]->host().receive(std::move(replies));
  }
}

void World::recovered(const std::vector<LaneBacklog>& backlog, RepliesByShard& replies) {
  checks_.trouble();
  for (const LaneBacklog& lane : backlog) {
    if (const WebhookRef webhook = directory_.find(lane.webhook_id)) {
      reply(replies, lane.webhook_id, WebhookChanged{.webhook = webhook, .backlog_due = lane.due});
    } else {
      cancel_waiting(lane.webhook_id);
    }
  }
}

void World::reply(RepliesByShard& replies, WebhookId webhook_id, Input input) {
  replies[worker_of(webhook_id, replies.size())].inputs.push_back(std::move(input));
}

void World::reschedule(WebhookId id) {
  const auto limit = static_cast<std::uint32_t>(1 + random_.below(20));
  store_.submit(
      SimReschedule{{.webhook_id = id, .policy = {}, .now = {}, .after = {}, .limit = limit}});
}

}  // namespace postrider::sim
