// The server in the world: it boots, crashes, drains, and does what its shards ask for.
#include <algorithm>
#include <utility>

#include "core/base/assert.h"

#include "tests/simulation/network.h"
#include "tests/simulation/trace.h"
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
  shards_.clear();
  allowance_ = std::make_unique<SharedAllowance>(
      limits_of(scenario_.shard), scenario_.shard_count,
      [this](std::size_t shard, std::optional<TenantId> tenant_id) {
        in_this_life(some_moment(), [this, shard, tenant_id] { feed(shard, SlotKept{tenant_id}); });
      });
  for (std::size_t shard = 0; shard < scenario_.shard_count; ++shard) {
    shards_.emplace_back(scenario_.shard, scenario_.seed + life_ * 100 + shard,
                         allowance_->of(shard));
  }
  alarms_.assign(scenario_.shard_count, 0);
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
    for (const LaneBacklog& lane : *backlog) {
      if (lane.webhook_id == webhook->id) {
        changed.backlog_due = lane.due;
      }
    }
    tell(webhook->id, std::move(changed));
  }
  for (const LaneBacklog& lane : *backlog) {
    if (!directory_.find(lane.webhook_id)) {
      cancel_waiting(lane.webhook_id);
    }
  }
  for (const WebhookId id : durable_.rescheduling) {
    reschedule(id);
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
  shards_.clear();
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
  const std::uint64_t life = life_;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    feed(shard, DrainRequested{});
  }
  timeline_.after(drain_deadline, [this, life] { end_drain(life); });
}

void World::end_drain(std::uint64_t life) {
  if (life != life_ || !up_) {
    return;
  }
  if (drained_count_ < shards_.size() && scenario_.commit_fails == 0) {
    checks_.drained({.in_flight = 1});  // Every attempt has timed out long ago.
  }
  crash();  // From here on it is the same: the process is gone.
}

void World::feed(std::size_t shard, Input input) {
  const Commands commands = shards_[shard].step(std::move(input), timeline_.now());
  for (const Command& command : commands) {
    note(describe(command));
    if (const auto* started = std::get_if<StartAttempt>(&command)) {
      if (draining_) {
        checks_.drained({.in_flight = 1});
      }
      checks_.lane_seen(*shards_[shard].view(started->delivery.webhook_id, timeline_.now()), true);
    }
  }
  checks_.shard_seen(shards_[shard].view());
  for (const Command& command : commands) {
    perform(shard, command);
  }
}

void World::tell(WebhookId webhook_id, Input input) {
  if (!up_) {
    return;
  }
  if (const auto* admitted = std::get_if<Admitted>(&input)) {
    for (const Delivery& delivery : admitted->deliveries) {
      checks_.admitted(delivery);
    }
  } else if (const auto* changed = std::get_if<WebhookChanged>(&input)) {
    checks_.told(*changed->webhook);
  } else if (const auto* removed = std::get_if<WebhookRemoved>(&input)) {
    checks_.told_removed(removed->webhook_id);
  } else if (const auto* settled = std::get_if<Settled>(&input)) {
    checks_.settled(settled->deliveries.front().delivery_id);
  } else if (std::holds_alternative<StoreFailed>(input)) {
    checks_.trouble();
  }
  feed(shard_of(webhook_id), std::move(input));
}

void World::recovered(const std::vector<LaneBacklog>& backlog) {
  checks_.trouble();
  for (const LaneBacklog& lane : backlog) {
    if (const WebhookRef webhook = directory_.find(lane.webhook_id)) {
      tell(lane.webhook_id,
           WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = lane.due});
    } else {
      cancel_waiting(lane.webhook_id);
    }
  }
}

void World::perform(std::size_t shard, const Command& command) {
  if (const auto* started = std::get_if<StartAttempt>(&command)) {
    start(shard, *started);
  } else if (const auto* settle = std::get_if<Settle>(&command)) {
    checks_.settling(settle->settlement.delivery.id);
    store_.submit(SimSettle{shard, settle->settlement});
  } else if (const auto* load = std::get_if<LoadLane>(&command)) {
    store_.submit(SimLoad{shard, *load});
  } else if (const auto* changed = std::get_if<Reschedule>(&command)) {
    reschedule(changed->webhook_id);
  } else if (const auto* alarm = std::get_if<SetAlarm>(&command)) {
    set_alarm(shard, alarm->at);
  } else if (const auto* save = std::get_if<SaveCircuit>(&command)) {
    store_.submit(SimCircuit{*save});
  } else if (const auto* disable = std::get_if<DisableWebhook>(&command)) {
    change_webhook(disable->webhook_id, [](Webhook& webhook) { webhook.active = false; });
  } else if (std::holds_alternative<Drained>(command)) {
    checks_.drained(shards_[shard].view());
    if (++drained_count_ == shards_.size()) {
      in_this_life(Micros{1}, [this, life = life_] { end_drain(life); });
    }
  }
}

void World::reschedule(WebhookId id) {
  const auto limit = static_cast<std::uint32_t>(1 + random_.below(20));
  store_.submit(
      SimReschedule{{.webhook_id = id, .policy = {}, .now = {}, .after = {}, .limit = limit}});
}

void World::start(std::size_t shard, const StartAttempt& command) {
  checks_.attempt_started(command);
  ++attempts_;
  ++in_flight_;
  const WebhookId webhook_id = command.delivery.webhook_id;
  const DeliveryId id = command.delivery.id;
  const auto ended = [this, shard, webhook_id, id](Input input) {
    --in_flight_;
    checks_.attempt_ended(id, std::holds_alternative<AttemptFinished>(input));
    feed(shard, std::move(input));
  };
  if (!calm_ && random_.below(100) == 0) {
    in_this_life(Micros{10}, [ended, webhook_id, id] { ended(AttemptAbandoned{webhook_id, id}); });
    return;
  }
  const auto receiver = std::ranges::find_if(
      scenario_.receivers, [&](const Receiver& each) { return each.webhook.id == webhook_id; });
  POSTRIDER_ASSERT(receiver != scenario_.receivers.end());
  Reply reply = reply_of(receiver->manners, command.timeout, random_);
  reply.outcome.executed_at = timeline_.now().wall;
  reply.outcome.duration = reply.delay;
  if (reply.accepted && reply.outcome.failure) {
    checks_.ambiguous(id);
  }
  if (reply.accepted) {
    // The receiver does not know whether we are still alive.
    timeline_.after(reply.delay / 2, [this, id] { checks_.accepted(id); });
  }
  in_this_life(reply.delay, [ended, webhook_id, id, outcome = reply.outcome] {
    ended(AttemptFinished{webhook_id, id, outcome});
  });
}

void World::set_alarm(std::size_t shard, MonoTime at) {
  const std::uint64_t number = ++alarms_[shard];
  in_this_life(std::max(at - timeline_.mono(), Micros{0}), [this, shard, number] {
    if (alarms_[shard] == number) {
      feed(shard, AlarmRang{});
    }
  });
}

}  // namespace postrider::sim
