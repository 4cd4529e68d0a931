// Moves leased shards into and out of this server: reads what the store knows of a shard's lanes
// before they are worked, and lets go of a shard when its last attempt is stored (P8).
//
// Any thread unless noted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "core/model/alert.h"
#include "core/model/shard_number.h"
#include "engine/shard/messages.h"
#include "ports/clock.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/background/removed_webhook_cleanup.h"
#include "runtime/background/retry_rescheduler.h"
#include "runtime/cluster/catalog_follower.h"
#include "runtime/cluster/lease_keeper.h"
#include "runtime/cluster/own_pool.h"
#include "runtime/delivery/load_circuits.h"
#include "runtime/delivery/worker.h"

namespace postrider {

/// Is told which shards, webhooks and alerts move. Called on the store thread.
class HandoverObserver {
 public:
  /// Before the shard's lanes are worked.
  virtual void shard_taken(ShardNumber shard) = 0;
  /// Nothing about the shard is stored by this server any more.
  virtual void shard_released(ShardNumber shard) = 0;
  /// Active alerts about webhooks that this server works from now on.
  virtual void alerts_taken(const std::vector<Alert>& alerts) = 0;
  /// Other servers work these webhooks of tenants from now on.
  virtual void webhooks_dropped(const std::set<WebhookId>& webhooks) = 0;

 protected:
  ~HandoverObserver() = default;
};

class ShardHandover {
 public:
  /// All of them must outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    StoreThread* store = nullptr;
    LeaseKeeper* keeper = nullptr;
    CatalogFollower* catalog = nullptr;
    const OwnPool* pool = nullptr;
    Millis lease_length{0};
    const AdminChanges* changes = nullptr;
    RemovedWebhookCleanup* cleanup = nullptr;
    RetryRescheduler* rescheduler = nullptr;
    const std::vector<std::unique_ptr<Worker>>* workers = nullptr;
    HandoverObserver* observer = nullptr;
  };

  explicit ShardHandover(Parts parts) : parts_(std::move(parts)) {}

  void take(const ShardAcquired& acquired);
  void lose(const ShardLost& lost);
  /// The worker has ended the shard, and everything about it was submitted to the store.
  void handed_back(ShardNumber shard);

  /// Continues after a failure of the store. Call periodically.
  void resume() { queue_step(); }

  /// Whether the shard was taken and not released since.
  [[nodiscard]] bool holds(ShardNumber shard) const {
    return held_[shard].load(std::memory_order_acquire);
  }

  // Store thread only.

  /// Other servers work the tenants' webhooks from now on. What is in flight ends by itself.
  void drop_tenants(const std::vector<TenantId>& tenants, RepliesByShard& replies);
  /// Works the tenants' webhooks when their former servers have certainly stopped. These learn of
  /// the change or lose their leases within a lease, and then end what is in flight.
  void take_tenants_later(const std::vector<TenantId>& tenants);
  [[nodiscard]] bool takes_later() const { return !later_.empty(); }
  [[nodiscard]] bool is_taken_later(WebhookId id) const { return later_.contains(id); }
  /// Takes the webhooks of take_tenants_later that are due. Call periodically.
  [[nodiscard]] Result<void> take_due(Store& store, RepliesByShard& replies);

 private:
  using Lanes = std::map<WebhookId, LaneBacklog>;

  void queue_step();
  [[nodiscard]] Result<void> take_some(Store& store, RepliesByShard& replies);
  void put_back(std::vector<ShardAcquired> step);
  /// Returns whether they are taken. If not, call again.
  [[nodiscard]] Result<bool> load(std::span<const ShardAcquired> acquired, Store& store,
                                  RepliesByShard& replies);
  [[nodiscard]] Result<Lanes> load_backlog(std::span<const ShardAcquired> acquired, Store& store);
  /// Adds the acquired webhooks of tenants that were bound to this server's pool a moment ago to
  /// those that are taken later.
  void defer_new_tenants(std::span<const ShardAcquired> acquired);
  [[nodiscard]] std::vector<WebhookRef> own_webhooks(std::span<const ShardAcquired> acquired) const;
  /// What lanes need to continue what is stored.
  struct Stored {
    Lanes backlog;
    std::map<WebhookId, LoadedCircuit> circuits;
    std::vector<WebhookId> reschedules;
    std::vector<Alert> alerts;  // Active ones about these webhooks, and about removed ones.
  };
  /// Changes nothing.
  [[nodiscard]] Result<Stored> load_lanes(std::span<const WebhookRef> webhooks, Lanes backlog,
                                          Store& store) const;
  void add_lanes(std::span<const WebhookRef> webhooks, Stored stored, RepliesByShard& replies);
  void clean_up(const Lanes& lanes);

  Parts parts_;
  std::mutex mutex_;                       // Guards the three below.
  std::vector<ShardAcquired> wanted_;      // Not taken yet.
  std::array<Epoch, shard_count> lost_{};  // The latest one that was lost.
  bool step_queued_ = false;
  std::array<std::atomic<bool>, shard_count> held_{};
  std::map<WebhookId, MonoTime> later_;  // When they are taken. Store thread only.
};

}  // namespace postrider
