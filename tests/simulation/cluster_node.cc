#include "tests/simulation/cluster_node.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/overloaded.h"
#include "engine/intake/intake.h"

#include "runtime/delivery/placement.h"

namespace postrider::sim {

ClusterNode::ClusterNode(Cluster& cluster, const ClusterNodeOptions& options)
    : SimNode(cluster.network, options.number, options.clock_rate),
      cluster_(cluster),
      options_(options),
      ids_(cluster.scenario.base.seed * 1'000 + options.number) {}

// ---------------------------------------------------------------- the process

void ClusterNode::started() {
  const Scenario& scenario = cluster_.scenario.base;
  allowance_ = std::make_unique<SharedAllowance>(
      limits_of(scenario.shard), scenario.shard_count,
      [this](std::size_t worker, const SlotReserved& reserved) {
        after(Micros{100}, [this, worker, reserved] { workers_[worker]->host().feed(reserved); });
      });
  make_store();
  for (std::size_t worker = 0; worker < scenario.shard_count; ++worker) {
    workers_.push_back(
        std::make_unique<SimWorker>(SimWorkerParts{.home = *this,
                                                   .scenario = scenario,
                                                   .random = network().random(),
                                                   .clock = *this,
                                                   .allowance = allowance_->of(worker),
                                                   .metrics = *metrics_,
                                                   .stream = stream_,
                                                   .permit = this},
                                    worker, scenario.seed + options_.number * 100 + worker));
  }
  load();
  poll();
}

/// The threads that send run before the one that makes the next step of the leases.
void ClusterNode::resumed() {
  cluster_.cluster_checks.node_resumed(*this);
  for (const auto& worker : workers_) {
    worker->host().ring_alarm();
  }
}

void ClusterNode::ended() {
  cluster_.cluster_checks.node_ended(*this);
  store_->crash();
  network().timeline().after(Micros{0}, [this] { workers_.clear(); });
}

Moment ClusterNode::now() const {
  const MonoTime mono = local();
  Moment now{wall_from_unix_ms(1'750'000'000'000) + options_.wall_skew +
                 std::chrono::duration_cast<Millis>(mono.time_since_epoch()),
             mono};
  now.steady = steady_wall_.read(now);
  return now;
}

// ---------------------------------------------------------------- leases

/// The store thread reads the shard's backlog first.
void ClusterNode::perform(const ShardAcquired& acquired) {
  note(fmt::format("acquires {}/{}", acquired.shard, acquired.epoch));
  submit(SimCatalog{
      [this, acquired](Catalog&, RepliesByShard& replies) { acquire(acquired, replies); }});
}

/// The worker is told at once.
void ClusterNode::perform(const ShardLost& lost) {
  note(fmt::format("loses {}/{}{}", lost.shard, lost.epoch, lost.at_once ? " at once" : ""));
  const Micros delay{static_cast<std::int64_t>(network().random().below(500))};
  after(delay, [this, lost] {
    if (lost.at_once) {
      cluster_.cluster_checks.shard_lost(*this, lost.shard);
    }
    workers_[worker_of(lost.shard, workers_.size())]->host().feed(lost);
  });
}

void ClusterNode::handed_back(ShardNumber shard) {
  cluster_.cluster_checks.handed_back(*this, shard);
  submit(SimCatalog{[this, shard](Catalog&, RepliesByShard&) {
    ledger_->release(shard);
    store_->forget_circuits(shard);
    store_->at_end([this, shard] { step(ShardHandedBack{shard}); });
  }});
}

// ---------------------------------------------------------------- what workers ask for and tell

void ClusterNode::later_at(MonoTime at, std::function<void()> act) {
  network().timeline().at(true_time(at), [this, act = std::move(act)] { arrive(act); });
}

void ClusterNode::elsewhere(Micros delay, std::function<void()> act) {
  network().timeline().after(delay, std::move(act));
}

void ClusterNode::note(const std::string& line) {
  network().note(fmt::format("node {}: {}", number(), line));
}

bool ClusterNode::is_troubled() const {
  return network().timeline().mono() < MonoTime{} + cluster_.scenario.base.trouble_time;
}

void ClusterNode::disable_webhook(WebhookId id) {
  cluster_.disabled(id);
  change_catalog({.webhook_id = id,
                  .change =
                      [this, id](Catalog& catalog) {
                        auto webhook = catalog.find_webhook(id);
                        if (!webhook || !*webhook) {
                          return false;
                        }
                        (*webhook)->active = false;
                        return catalog.put_webhook(**webhook).has_value();
                      },
                  .done = [] {}});
}

void ClusterNode::before_step(const Input& input) {
  const auto act = Overloaded{
      [this](const ShardAcquired& acquired) { epochs_[acquired.shard] = acquired.epoch; },
      [this](const Settled& settled) {
        for (const LaneDelivery& delivery : settled.deliveries) {
          cluster_.cluster_checks.settled(*this, delivery.delivery_id);
        }
      },
      [](const auto&) {},
  };
  std::visit(act, input);
}

void ClusterNode::after_step(ShardHost&, const Commands& commands) {
  for (const Command& command : commands) {
    if (const auto* settle = std::get_if<Settle>(&command); settle && !settle->is_resubmission) {
      const ShardNumber shard = shard_of(settle->settlement.delivery.webhook_id);
      cluster_.cluster_checks.settle_requested(*this, settle->settlement, epochs_[shard]);
    }
    if (const auto* start = std::get_if<StartAttempt>(&command)) {
      cluster_.cluster_checks.attempt_started(*this, start->delivery.id);
      ++cluster_.attempts;
    }
  }
}

void ClusterNode::request_sent(const SimRequest& request) {
  note(fmt::format("sends {}", request.delivery_id.to_string()));
  cluster_.cluster_checks.request_sent(*this, request);
}

void ClusterNode::request_ended(const SimRequest& request) {
  cluster_.cluster_checks.request_ended(*this, request);
}

void ClusterNode::reset_circuits() {
  for (const auto& [id, webhook] : directory_.all()) {
    workers_[worker_of(id, workers_.size())]->host().feed(
        CircuitCommanded{id, CircuitAction::reset, {}});
  }
}

// ---------------------------------------------------------------- the API

void ClusterNode::submit_job(SimJob job) {
  arrive([this, job = std::move(job)] { submit(job); });
}

void ClusterNode::publish(PublishRequest request) {
  arrive([this, request = std::move(request)] {
    if (!loaded_) {
      request.done(fail(Errc::unavailable, "The server is starting."));
      return;
    }
    std::vector<Publish> publishes(1);
    publishes.front().event = request.event;
    publishes.front().claim = request.claim;
    PublishPlanner planner{std::make_shared<const Directory>(directory_), std::move(publishes),
                           cluster_.scenario.base.fanout};
    while (!planner.advance(1)) {
    }
    submit(SimPublish{.publish = std::move(planner).finish(ids_, now().steady).front(),
                      .done = [this, request](const auto& receipt) { answer(request, receipt); },
                      .planned_with = seen_});
  });
}

/// If the catalogue has changed, the changes are read and the publish is planned again.
void ClusterNode::answer(const PublishRequest& request, const Result<PublishReceipt>& receipt) {
  if (!receipt || !std::holds_alternative<Outdated>(*receipt)) {
    request.done(receipt);
    return;
  }
  submit(SimCatalog{[this, request](Catalog&, RepliesByShard& replies) {
    sync(replies);
    store_->at_end([this, request] { publish(request); });
  }});
}

void ClusterNode::change_catalog(CatalogRequest request) {
  arrive([this, request = std::move(request)] {
    submit(SimCatalog{[this, request](Catalog& catalog, RepliesByShard& replies) {
      if (request.change(catalog)) {
        cluster_.db.changes.push_back(request.webhook_id);
      }
      sync(replies);
      store_->at_end(request.done);
    }});
  });
}

}  // namespace postrider::sim
