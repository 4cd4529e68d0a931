// The store thread of a node in the simulated cluster: it meets the other nodes in the database.
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "runtime/delivery/placement.h"

#include "tests/simulation/cluster_node.h"

namespace postrider::sim {
namespace {

/// Between two looks at what other nodes have stored.
constexpr std::uint64_t poll_max_us = 600'000;

}  // namespace

void ClusterNode::make_store() {
  ClusterChecks& checks = cluster_.cluster_checks;
  auto ledger = std::make_unique<SimPeerLedger>(
      cluster_.db, id(),
      SimPeerLedger::Watches{
          .stored = [this, &checks](const auto& all) { checks.settlements_stored(*this, all); },
          .refused = [&checks](const auto& all) { checks.settlements_refused(all); }});
  ledger_ = ledger.get();
  store_ = std::make_unique<SimStore>(
      std::move(ledger), make_memory_catalog(cluster_.db.durable),
      SimStore::Parts{
          .timeline = &network().timeline(),
          .random = &network().random(),
          .scenario = &cluster_.scenario.base,
          .deliver = [this](std::size_t worker,
                            ShardReplies replies) { deliver(worker, std::move(replies)); },
          .webhook = [this](WebhookId webhook_id) { return directory_.find(webhook_id); },
          .rescheduled = [](WebhookId) {},
          .new_delivery_id = [this] { return ids_.make<DeliveryId>(now().wall); },
          .revived = [this](const Delivery& each) { cluster_.checks.revival_stored(each.id); },
          .recovered =
              [this](const std::vector<LaneBacklog>& backlog, RepliesByShard& replies) {
                for (const LaneBacklog& lane : backlog) {
                  if (const WebhookRef webhook = directory_.find(lane.webhook_id)) {
                    reply(replies, lane.webhook_id,
                          WebhookChanged{.webhook = webhook, .backlog_due = lane.due});
                  }
                }
              },
          // What other nodes have published before comes first, or it would be overtaken (P4).
          .committed = [this](RepliesByShard& replies) { receive(replies); },
          .is_cut_off = [this] { return !is_connected() || cluster_.leases.is_down(); },
          .arrive = [this](std::function<void()> act) { arrive(std::move(act)); }});
}

void ClusterNode::load() {
  submit(SimCatalog{[this](Catalog& catalog, RepliesByShard&) {
    std::vector<WebhookRef> webhooks;
    const auto stored = catalog.load_webhooks();
    for (const Webhook& webhook : *stored) {
      webhooks.push_back(std::make_shared<const Webhook>(webhook));
    }
    read_ = cluster_.db.version();
    store_->at_end([this, webhooks, version = read_] {
      directory_ = Directory{webhooks};
      seen_ = version;
      loaded_ = true;
    });
  }});
}

void ClusterNode::sync(RepliesByShard& replies) {
  const std::vector<WebhookId>& changes = cluster_.db.changes;
  for (auto next = static_cast<std::size_t>(read_); next < changes.size(); ++next) {
    const WebhookId id = changes[next];
    const auto stored = cluster_.db.durable.webhooks.find(id);
    if (stored == cluster_.db.durable.webhooks.end()) {
      reply(replies, id, WebhookRemoved{id});
      store_->at_end([this, id] { directory_ = directory_.without(id); });
      continue;
    }
    const auto webhook = std::make_shared<const Webhook>(stored->second);
    reply(replies, id, WebhookChanged{.webhook = webhook});
    store_->at_end([this, webhook] { directory_ = directory_.with(webhook); });
  }
  read_ = cluster_.db.version();
  store_->at_end([this, version = read_] { seen_ = version; });
}

WebhookChanged ClusterNode::starting(const Webhook& webhook,
                                     const std::vector<LaneBacklog>& backlog) const {
  const MemoryStore& durable = cluster_.db.durable;
  WebhookChanged changed{.webhook = std::make_shared<const Webhook>(webhook), .at_start = true};
  if (const auto circuit = durable.circuits.find(webhook.id); circuit != durable.circuits.end()) {
    changed.circuit = circuit->second;
  }
  const CallsToRestore which =
      calls_to_restore(changed.circuit.value_or(CircuitRecord{}), webhook.breaker, now().steady);
  changed.past_calls = *ledger_->recent_calls(webhook.id, which);
  for (const LaneBacklog& lane : backlog) {
    if (lane.webhook_id == webhook.id) {
      changed.backlog_due = lane.due;
    }
  }
  return changed;
}

/// From `hold` on, what other nodes publish for the shard is handed over to this one. The backlog
/// has what was published before.
void ClusterNode::acquire(const ShardAcquired& acquired, RepliesByShard& replies) {
  ledger_->hold({.shard = acquired.shard, .epoch = acquired.epoch});
  sync(replies);
  const auto backlog = ledger_->backlog();
  POSTRIDER_ASSERT(backlog.has_value());
  replies[worker_of(acquired.shard, replies.size())].inputs.emplace_back(acquired);
  for (const auto& [id, webhook] : cluster_.db.durable.webhooks) {
    if (shard_of(id) == acquired.shard) {
      reply(replies, id, starting(webhook, *backlog));
    }
  }
  for (const LaneBacklog& lane : *backlog) {
    if (shard_of(lane.webhook_id) == acquired.shard &&
        !cluster_.db.durable.webhooks.contains(lane.webhook_id)) {
      cancel_waiting(lane.webhook_id);
    }
  }
}

void ClusterNode::receive(RepliesByShard& replies) {
  std::vector<LaneDelivery> closed;
  for (Delivery& delivery : ledger_->receive(closed)) {
    const WebhookId webhook_id = delivery.webhook_id;
    reply(replies, webhook_id, Admitted{{std::move(delivery)}});
  }
  for (const LaneDelivery& each : closed) {
    reply(replies, each.webhook_id, DeliveryCancelled{each.webhook_id, each.delivery_id});
  }
}

void ClusterNode::poll() {
  if (store_->idle()) {
    submit(SimCatalog{[this](Catalog&, RepliesByShard& replies) {
      sync(replies);
      receive(replies);
    }});
  }
  after(Micros{static_cast<std::int64_t>(1'000 + network().random().below(poll_max_us))},
        [this] { poll(); });
}

void ClusterNode::cancel_waiting(WebhookId id) {
  submit_job(SimCatalog{[this, id](Catalog& catalog, RepliesByShard&) {
    const Result<TenantCounts> cancelled = catalog.cancel_waiting(id, now().wall, 2);
    if (!cancelled || cancelled->total() == 2) {
      cancel_waiting(id);
    }
  }});
}

void ClusterNode::reply(RepliesByShard& replies, WebhookId webhook_id, Input input) const {
  replies[worker_of(webhook_id, replies.size())].inputs.push_back(std::move(input));
}

void ClusterNode::deliver(std::size_t worker, ShardReplies replies) {
  if (!is_gone()) {
    workers_[worker]->host().receive(std::move(replies));
  }
}

}  // namespace postrider::sim
