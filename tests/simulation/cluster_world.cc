#include "tests/simulation/cluster_world.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "tests/simulation/cluster_world_state.h"

namespace postrider::sim {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Micros rest_max = hours{6};  // Longer than the retries of all deliveries.

}  // namespace

ClusterWorld::ClusterWorld(const ClusterScenario& scenario,
                           std::function<void(const std::string&)> log)
    : scenario_(scenario),
      log_(std::move(log)),
      random_(scenario.base.seed ^ 0xc1a57e5),
      ids_(scenario.base.seed + 1),
      leases_(scenario_.leases, *this, some_rate(), [](const SimNode&, const ClusterView&) {}),
      checks_(scenario_.base, db_.durable, timeline_),
      cluster_checks_(db_, timeline_, checks_, 2 * scenario.leases.drift_max) {
  db_.lease = [this](ShardNumber shard) { return leases_.lease(shard); };
  for (std::size_t i = 0; i < scenario_.webhooks_at_start; ++i) {
    const Webhook& webhook = scenario_.base.receivers[i].webhook;
    db_.durable.webhooks.emplace(webhook.id, webhook);
    expected_.emplace(webhook.id, webhook);
  }
}

void ClusterWorld::note(const std::string& line) {
  const std::string timed = fmt::format(
      "{:12.6f} {}", static_cast<double>(timeline_.mono().time_since_epoch().count()) / 1e6, line);
  for (const char character : timed) {
    trace_hash_ = (trace_hash_ ^ static_cast<unsigned char>(character)) * 1099511628211ull;
  }
  if (log_) {
    log_(timed);
  }
}

std::vector<ClusterNode*> ClusterWorld::nodes_that(bool (ClusterNode::*are)() const) const {
  std::vector<ClusterNode*> found;
  for (const auto& node : nodes_) {
    if ((*node.*are)()) {
      found.push_back(node.get());
    }
  }
  return found;
}

void ClusterWorld::join() {
  const auto skew = static_cast<std::uint64_t>(scenario_.wall_skew_max.count());
  nodes_.push_back(std::make_unique<ClusterNode>(
      cluster_,
      ClusterNodeOptions{.number = static_cast<std::uint32_t>(nodes_.size() + 1),
                         .clock_rate = some_rate(),
                         .wall_skew = Millis{static_cast<std::int64_t>(random_.below(skew + 1))}}));
  nodes_.back()->start();
}

void ClusterWorld::disturb(std::uint32_t count, const std::function<void(ClusterNode&)>& act) {
  for (std::uint32_t i = 0; i < count; ++i) {
    timeline_.after(sometime(), [this, act] {
      if (const auto nodes = nodes_that(&ClusterNode::is_staying); !nodes.empty()) {
        act(*nodes[random_.below(nodes.size())]);
      }
    });
  }
}

void ClusterWorld::schedule_faults() {
  const LeaseScenario& faults = scenario_.leases;
  disturb(faults.pauses, [this](ClusterNode& node) {
    node.pause();
    timeline_.after(some_time(seconds{random_.below(2) == 0 ? 3 : 40}), [&node] { node.resume(); });
  });
  disturb(faults.partitions, [this](ClusterNode& node) {
    leases_.cut_off(node, Micros{0}, some_time(seconds{random_.below(2) == 0 ? 2 : 60}));
  });
  disturb(faults.crashes, [](ClusterNode& node) { node.crash(); });
  disturb(faults.leaves, [](ClusterNode& node) { node.leave(); });
  for (std::uint32_t i = 0; i < faults.joins; ++i) {
    timeline_.after(sometime(), [this] { join(); });
  }
  for (std::uint32_t i = 0; i < faults.outages; ++i) {
    timeline_.after(sometime(), [this] { leases_.go_down(some_time(seconds{40})); });
  }
}

void ClusterWorld::end_faults() {
  note("the faults end");
  calm_ = true;
  leases_.calm();
  for (Receiver& receiver : scenario_.base.receivers) {
    if (receiver.behavior != Behavior::refusing) {
      receiver.behavior = Behavior::healthy;
    }
  }
  for (const auto& node : nodes_) {
    node->set_connected(true);
    node->calm();
    node->resume();
  }
  while (nodes_that(&ClusterNode::is_staying).size() < 2) {
    join();
  }
  timeline_.after(seconds{1}, [this] { clean_up(); });
}

/// What users and the servers' own clean-up do in the end: nothing may wait forever.
void ClusterWorld::clean_up() {
  const auto nodes = nodes_that(&ClusterNode::is_serving);
  if (nodes.empty()) {
    timeline_.after(seconds{1}, [this] { clean_up(); });
    return;
  }
  ClusterNode& node = *nodes.front();
  node.calm();
  for (const Receiver& receiver : scenario_.base.receivers) {
    const WebhookId id = receiver.webhook.id;
    if (!db_.durable.webhooks.contains(id)) {
      node.cancel_waiting(id);
    } else {
      edit(node, id, [](Webhook& webhook) { webhook.paused = false; });
    }
  }
  reset_circuits();
  cleaned_up_ = true;
}

/// Those whose circuits were opened again by attempts from before are reset again.
void ClusterWorld::reset_circuits() {
  for (ClusterNode* node : nodes_that(&ClusterNode::is_serving)) {
    node->calm();
    node->reset_circuits();
  }
  timeline_.after(seconds{60}, [this] { reset_circuits(); });
}

bool ClusterWorld::at_rest() const {
  const bool all_published = acknowledged_ + given_up_ == scenario_.base.event_count;
  if (!cleaned_up_ || !all_published || !cluster_checks_.is_idle()) {
    return false;
  }
  return std::ranges::all_of(db_.durable.waiting, [this](const auto& lane) {
    const auto webhook = db_.durable.webhooks.find(lane.first);
    return lane.second.empty() ||
           (webhook != db_.durable.webhooks.end() && !webhook->second.active);
  });
}

RunResult ClusterWorld::run() {
  for (std::uint32_t i = 0; i < scenario_.leases.nodes; ++i) {
    timeline_.after(some_time(seconds{2}), [this] { join(); });
  }
  schedule_faults();
  schedule_clients();
  timeline_.after(scenario_.leases.trouble_time, [this] { end_faults(); });
  const MonoTime end = MonoTime{} + scenario_.leases.trouble_time + rest_max;
  while (checks_.violations().empty() && timeline_.mono() < end) {
    // Looking at everything after every step would take most of the time.
    for (int i = 0; i < 200 && checks_.violations().empty() && timeline_.step(); ++i) {
    }
    if (at_rest()) {
      break;
    }
  }
  if (checks_.violations().empty()) {
    checks_.check_end();
  }
  return {.trace_hash = trace_hash_,
          .violations = checks_.violations(),
          .attempts = attempts_,
          .acknowledged = acknowledged_,
          .virtual_time = timeline_.mono().time_since_epoch()};
}

RunResult run_cluster_world(const ClusterScenario& scenario,
                            const std::function<void(const std::string&)>& log) {
  spdlog::set_level(spdlog::level::off);  // The trace says more.
  return ClusterWorld{scenario, log}.run();
}

}  // namespace postrider::sim
