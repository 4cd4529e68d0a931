// One server of a simulated cluster: the real NodeLeases, ShardHosts and intake, a clock of its
// own, and a store thread that talks to the shared database.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/steady_wall.h"
#include "engine/intake/directory.h"

#include "runtime/limits/shared_allowance.h"
#include "runtime/observability/metrics.h"
#include "runtime/observability/stream_hub.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/cluster_checks.h"
#include "tests/simulation/cluster_db.h"
#include "tests/simulation/cluster_scenario.h"
#include "tests/simulation/sim_home.h"
#include "tests/simulation/sim_lease_table.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/sim_worker.h"

namespace postrider::sim {

/// What all nodes share. Everything referred to must outlive the nodes.
struct Cluster {
  const ClusterScenario& scenario;
  SimNetwork& network;
  ClusterDb& db;
  SimLeaseTable& leases;
  Checks& checks;
  ClusterChecks& cluster_checks;
  std::uint64_t& attempts;
  /// The webhook was switched off by a node.
  std::function<void(WebhookId)> disabled;
};

struct ClusterNodeOptions {
  std::uint32_t number = 0;
  double clock_rate = 1;
  Millis wall_skew{0};
};

class ClusterNode final : public SimNode, private SimHome, private SendPermit, private Clock {
 public:
  ClusterNode(Cluster& cluster, const ClusterNodeOptions& options);

  /// Serves the API.
  [[nodiscard]] bool is_serving() const { return is_staying() && loaded_; }

  /// Calls `done` with the receipt, unless the node dies before.
  struct PublishRequest {
    Event event;
    std::optional<IdempotencyClaim> claim;
    std::function<void(const Result<PublishReceipt>&)> done;
  };
  void publish(PublishRequest request);
  /// Changes the catalogue: `change` is called in the transaction and returns false if there is
  /// nothing to change. `done` is called when the user has the answer.
  struct CatalogRequest {
    WebhookId webhook_id;
    std::function<bool(Catalog&)> change;
    std::function<void()> done;
  };
  void change_catalog(CatalogRequest request);
  void submit_job(SimJob job);
  /// Small steps, so that a crash can happen between them.
  void cancel_waiting(WebhookId id);

  void calm() { store_->calm(); }
  /// Resets all circuits that this node works.
  void reset_circuits();
  [[nodiscard]] bool is_idle() const { return store_->idle(); }

 private:
  // SimNode
  void perform(const ShardLost& lost) override;
  void perform(const ShardAcquired& acquired) override;
  void started() override;
  void resumed() override;
  void ended() override;

  // SimHome
  void later(Micros delay, std::function<void()> act) override { after(delay, std::move(act)); }
  void later_at(MonoTime at, std::function<void()> act) override;
  void elsewhere(Micros delay, std::function<void()> act) override;
  void note(const std::string& line) override;
  void submit(SimJob job) override { store_->submit(std::move(job)); }
  void disable_webhook(WebhookId id) override;
  void reschedule(WebhookId) override {}
  void handed_back(ShardNumber shard) override;
  void drained(const ShardView&) override {}
  void before_step(const Input& input) override;
  void after_step(ShardHost& host, const Commands& commands) override;
  void request_sent(const SimRequest& request) override;
  void request_ended(const SimRequest& request) override;
  void accepted(DeliveryId id) override { cluster_.checks.accepted(id); }
  void ambiguous(DeliveryId id) override { cluster_.checks.ambiguous(id); }
  [[nodiscard]] bool is_troubled() const override;

  [[nodiscard]] bool may_send(ShardNumber shard) const override { return SimNode::may_send(shard); }
  [[nodiscard]] Moment now() const override;

  // The store thread: cluster_node_store.cc.
  void make_store();
  void load();
  void acquire(const ShardAcquired& acquired, RepliesByShard& replies);
  /// Reads the changes of the catalogue that are new.
  void sync(RepliesByShard& replies);
  void receive(RepliesByShard& replies);
  void poll();
  void answer(const PublishRequest& request, const Result<PublishReceipt>& receipt);
  void reply(RepliesByShard& replies, WebhookId webhook_id, Input input) const;
  [[nodiscard]] WebhookChanged starting(const Webhook& webhook,
                                        const std::vector<LaneBacklog>& backlog) const;
  void deliver(std::size_t worker, ShardReplies replies);

  Cluster& cluster_;
  ClusterNodeOptions options_;
  mutable SteadyWall steady_wall_;
  UuidGenerator ids_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  StreamHub stream_{StreamOptions{}};
  std::unique_ptr<SharedAllowance> allowance_;
  SimPeerLedger* ledger_ = nullptr;  // Owned by the store.
  std::unique_ptr<SimStore> store_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
  Directory directory_;
  CatalogVersion read_ = 0;  // The version that the store thread has read …
  CatalogVersion seen_ = 0;  // … and that the directory has.
  bool loaded_ = false;
  std::array<Epoch, shard_count> epochs_{};  // That the workers know.
};

}  // namespace postrider::sim
