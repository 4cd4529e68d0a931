// The part of a server that cooperates with other servers on its store: which shards it works, and
// what they tell each other. Decisions 0041 and 0042 describe how they cooperate.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/lease.h"
#include "engine/leases/node_leases.h"
#include "ports/leases.h"
#include "ports/peer_signals.h"

#include "runtime/admin/service.h"
#include "runtime/cluster/catalog_follower.h"
#include "runtime/cluster/lease_keeper.h"
#include "runtime/cluster/own_pool.h"
#include "runtime/cluster/peer_watcher.h"
#include "runtime/cluster/shard_handover.h"
#include "runtime/observability/cluster_samples.h"

namespace postrider {

/// What the cluster needs from its node. Store thread only unless noted.
class ClusterOwner {
 public:
  /// See HandoverObserver.
  virtual void alerts_taken(const std::vector<Alert>& alerts) = 0;
  /// Other servers continue with the alerts about these webhooks.
  virtual void alerts_dropped(const std::function<bool(WebhookId)>& is_dropped) = 0;
  /// This server becomes the leader: it does the work that one server does for all.
  virtual Result<void> start_leading(Store& store) = 0;
  /// This server is no longer the leader.
  virtual void stop_leading() = 0;
  /// An operation was added or cancelled, here or by another server.
  virtual void operations_changed() = 0;
  /// Called periodically, after everything was taken.
  virtual Result<void> refresh(Store& store) = 0;
  /// The number of live servers of this server's pool. The keeper's thread.
  virtual void servers_counted(std::uint32_t alive) = 0;
  /// All shards are handed back, after Cluster::leave. The keeper's thread.
  virtual void shards_left() = 0;

 protected:
  ~ClusterOwner() = default;
};

class Cluster final : private LeaseObserver,
                      private HandoverObserver,
                      private CatalogObserver,
                      private PeerWatcherOwner {
 public:
  /// Both are null if the store is not shared.
  struct Ports {
    std::unique_ptr<Leases> leases;
    std::unique_ptr<PeerSignals> signals;
  };
  /// All of them must outlive the cluster.
  struct Parts {
    const Clock* clock = nullptr;
    AdminChanges* changes = nullptr;
    EventTypeChanges* event_types = nullptr;
    MakeSchemaCheck make_schema_check;
    ClusterOwner* owner = nullptr;
  };

  /// `store`: joined, and not used by a thread yet. `seen`: its catalogue before it was loaded.
  Cluster(LeaseOptions options, Ports ports, Parts parts, Store& store, CatalogVersion seen);
  ~Cluster();

  /// All of them must outlive the cluster, but their threads must end before it is destroyed.
  struct Threads {
    StoreThread* store = nullptr;
    const std::vector<std::unique_ptr<Worker>>* workers = nullptr;
    RemovedWebhookCleanup* cleanup = nullptr;
    RetryRescheduler* rescheduler = nullptr;
  };
  /// Call once, before start().
  void connect(const Threads& threads);
  void start();
  /// Hands all shards over. ClusterOwner::shards_left follows when nothing is in flight.
  void leave() { keeper_.leave(); }
  /// Call before the store thread is stopped: nothing is received from now on.
  void stop_receiving() { watcher_->stop(); }
  /// Call when nothing is sent any more. Frees the leases.
  void stop() { keeper_.stop(); }

  // Any thread.

  [[nodiscard]] const SendPermit& permit() const { return keeper_; }
  /// Whether this server works the webhook of the tenant.
  [[nodiscard]] bool works(WebhookId id, const TenantId& tenant_id) const {
    return handover_->holds(shard_of(id)) && own_pool_.includes(tenant_id);
  }
  /// False while the server is starting: it has not taken its part of the webhooks yet. What is
  /// given to the store thread from then on is done after it has.
  [[nodiscard]] bool has_joined() const { return keeper_.has_joined(); }
  [[nodiscard]] std::optional<ClusterStatus> status() const;
  [[nodiscard]] ClusterActivity activity() const;
  void shard_handed_back(ShardNumber shard) { handover_->handed_back(shard); }
  /// Hands the command over to the server that works its webhook. If that is this one, later.
  void return_command(const CircuitCommanded& command);
  void wake_others() { watcher_->wake_others(); }
  /// Calls `done` on the io thread `origin` once everything is known that other servers had
  /// answered before this call.
  void catch_up(std::size_t origin, std::function<void(bool)> done);

  // Store thread only.

  [[nodiscard]] CatalogFollower& catalog() { return catalog_; }
  /// See PeerWatcher::take_all.
  [[nodiscard]] Result<void> take_all(Store& store, RepliesByShard& replies) {
    return watcher_->take_all(store, replies);
  }
  /// Removes inputs about webhooks of tenants that this server does not work, or not yet.
  /// Deliveries of webhooks that are removed are cancelled: they may have been stored after the
  /// removal, by a server that did not know of it.
  void keep_own(std::vector<Input>& inputs) const;

 private:
  // LeaseObserver
  void shard_acquired(const ShardAcquired& acquired) override { handover_->take(acquired); }
  void shard_lost(const ShardLost& lost) override { handover_->lose(lost); }
  void cluster_seen(const ClusterView& view) override;
  void shards_left() override { parts_.owner->shards_left(); }
  // HandoverObserver
  void shard_taken(ShardNumber shard) override;
  void shard_released(ShardNumber shard) override;
  void alerts_taken(const std::vector<Alert>& alerts) override {
    parts_.owner->alerts_taken(alerts);
  }
  void webhooks_dropped(const std::set<WebhookId>& webhooks) override {
    parts_.owner->alerts_dropped([&](WebhookId id) { return webhooks.contains(id); });
  }
  // CatalogObserver
  void operations_changed() override { parts_.owner->operations_changed(); }
  void access_changed(Store& store, RepliesByShard& replies) override;
  // PeerWatcherOwner
  Result<void> store_looked_at(Store& store, RepliesByShard& replies) override;

  void cancel_unknown(const std::vector<Input>& inputs) const;
  [[nodiscard]] Result<void> answer_catch_ups(Store& store, RepliesByShard& replies);
  [[nodiscard]] Result<void> store_returned_commands(Store& store);

  const NodeId node_;
  const Millis lease_length_;
  Parts parts_;
  OwnPool own_pool_;
  std::unique_ptr<PeerSignals> signals_;  // Until connect().
  CatalogFollower catalog_;
  LeaseKeeper keeper_;
  StoreThread* store_ = nullptr;
  RemovedWebhookCleanup* cleanup_ = nullptr;
  std::unique_ptr<ShardHandover> handover_;
  std::unique_ptr<PeerWatcher> watcher_;

  mutable std::mutex mutex_;  // Guards the three below.
  std::optional<ClusterView> view_;
  std::uint64_t takeovers_ = 0;
  std::vector<std::pair<std::size_t, std::function<void(bool)>>> catching_up_;

  // Store thread only.
  bool holds_leading_shard_ = false;
  bool leads_ = false;                               // The owner was told to lead.
  std::vector<CircuitCommanded> returned_commands_;  // Not stored yet.
};

}  // namespace postrider
