// The state of one simulated run of a cluster. Private to the simulation; use cluster_world.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/cluster_checks.h"
#include "tests/simulation/cluster_db.h"
#include "tests/simulation/cluster_node.h"
#include "tests/simulation/cluster_scenario.h"
#include "tests/simulation/sim_lease_table.h"
#include "tests/simulation/timeline.h"
#include "tests/simulation/world.h"

namespace postrider::sim {

class ClusterWorld final : private SimNetwork {
 public:
  ClusterWorld(const ClusterScenario& scenario, std::function<void(const std::string&)> log);
  ClusterWorld(const ClusterWorld&) = delete;
  ClusterWorld& operator=(const ClusterWorld&) = delete;

  RunResult run();

 private:
  // SimNetwork
  void send_turn(SimNode& node, const LeaseTurn& turn, Answer answer) override {
    leases_.send_turn(node, turn, std::move(answer));
  }
  void send_leave(const SimNode& node) override { leases_.send_leave(node); }
  void note(const std::string& line) override;
  Timeline& timeline() override { return timeline_; }
  SplitMix64& random() override { return random_; }

  // The course of a run: cluster_world.cc.
  void join();
  void schedule_faults();
  void disturb(std::uint32_t count, const std::function<void(ClusterNode&)>& act);
  void end_faults();
  void clean_up();
  void reset_circuits();
  [[nodiscard]] bool at_rest() const;
  [[nodiscard]] std::vector<ClusterNode*> nodes_that(bool (ClusterNode::*are)() const) const;
  [[nodiscard]] double some_rate() {
    return 1 + (2 * random_.draw() - 1) * scenario_.leases.drift_max;
  }
  [[nodiscard]] Micros some_time(Micros max) {
    return Micros{
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(max.count())))};
  }
  [[nodiscard]] Micros sometime() { return some_time(scenario_.leases.trouble_time); }

  // Publishers and users, each of whom talks to any node: cluster_users.cc.
  struct Draft {
    Event event;
    bool keyed = false;
    std::shared_ptr<bool> answered = std::make_shared<bool>(false);
  };
  void schedule_clients();
  void publish(const Draft& draft);
  void answer(const Draft& draft, EventId id, const std::vector<WebhookId>& expected,
              const Result<PublishReceipt>& receipt);
  /// The webhooks that an event must reach that is published now.
  [[nodiscard]] std::vector<WebhookId> receivers_of(const Event& event) const;
  void make_user_change();
  void add_webhook(ClusterNode& node, const Webhook& webhook);
  void edit(ClusterNode& node, WebhookId id, const std::function<void(Webhook&)>& change);
  void remove(ClusterNode& node, WebhookId id);
  void revive_or_cancel(ClusterNode& node);

  ClusterScenario scenario_;
  std::function<void(const std::string&)> log_;
  SplitMix64 random_;
  UuidGenerator ids_;
  Timeline timeline_;
  ClusterDb db_;
  SimLeaseTable leases_;
  Checks checks_;
  ClusterChecks cluster_checks_;
  std::map<WebhookId, Webhook> expected_;  // Whose creation was acknowledged, and that stay active.
  std::uint64_t trace_hash_ = 14695981039346656037ull;
  std::uint64_t attempts_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t given_up_ = 0;  // Events without a key whose answer was lost.
  std::size_t webhooks_added_ = 0;
  bool calm_ = false;
  bool cleaned_up_ = false;
  Cluster cluster_{.scenario = scenario_,
                   .network = *this,
                   .db = db_,
                   .leases = leases_,
                   .checks = checks_,
                   .cluster_checks = cluster_checks_,
                   .attempts = attempts_,
                   .disabled = [this](WebhookId id) { expected_.erase(id); }};
  std::vector<std::unique_ptr<ClusterNode>> nodes_;
};

}  // namespace postrider::sim
