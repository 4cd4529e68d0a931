// The database that the nodes of a simulated cluster share: the store in memory, the deliveries
// that are handed over, and the changes of the catalogue. A model of ports/peers.h. The leases are
// in sim_lease_table.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/catalog_version.h"
#include "core/model/lease.h"
#include "ports/ledger.h"

#include "adapters/memory/memory_store.h"

namespace postrider::sim {

struct ClusterDb {
  MemoryStore durable;
  std::vector<WebhookId> changes;  // Of the catalogue. The version is their number.
  std::map<ShardNumber, std::vector<LaneDelivery>> handoff;
  std::function<Lease(ShardNumber)> lease;

  [[nodiscard]] CatalogVersion version() const {
    return static_cast<CatalogVersion>(changes.size());
  }
};

/// The ledger of one node.
class SimPeerLedger final : public Ledger {
 public:
  /// Calls `stored(settlements)` with what is stored, and `refused(settlements)` with the others.
  using Watch = std::function<void(const std::vector<Settlement>&)>;
  struct Watches {
    Watch stored;
    Watch refused;
  };

  /// `db` must outlive this object.
  SimPeerLedger(ClusterDb& db, NodeId node, Watches watches);

  void hold(ShardEpoch lease) { held_[lease.shard] = lease.epoch; }
  void release(ShardNumber shard) { held_.erase(shard); }
  /// Takes what was handed over to the shards that are held: returns the deliveries that wait, and
  /// adds the others to `closed`.
  [[nodiscard]] std::vector<Delivery> receive(std::vector<LaneDelivery>& closed);

  [[nodiscard]] Result<BatchReceipt> commit(const Batch& batch) override;
  [[nodiscard]] Result<void> recover() override { return ledger_->recover(); }
  [[nodiscard]] Result<LanePage> load_lane(const LoadLane& query) override {
    return ledger_->load_lane(query);
  }
  [[nodiscard]] Result<std::vector<LaneBacklog>> backlog() override { return ledger_->backlog(); }
  [[nodiscard]] Result<std::vector<PastCall>> recent_calls(WebhookId id,
                                                           const CallsToRestore& which) override {
    return ledger_->recent_calls(id, which);
  }
  [[nodiscard]] Result<BroughtForward> bring_forward(const BringForward& order) override;
  [[nodiscard]] Result<FannedOut> fan_out(const FanOutStep& step) override {
    return ledger_->fan_out(step);
  }
  [[nodiscard]] Result<std::map<TenantId, std::uint64_t>> open_fanouts() override {
    return ledger_->open_fanouts();
  }
  [[nodiscard]] Result<TenantCounts> count_waiting() override { return ledger_->count_waiting(); }
  [[nodiscard]] Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) override {
    return ledger_->load_events(ids);
  }

 private:
  /// The shard is held, and no other node has taken it since.
  [[nodiscard]] bool is_held(ShardNumber shard) const;
  void hand_over(const Delivery& delivery);
  void hand_over(const BatchReceipt& receipt);

  ClusterDb& db_;
  NodeId node_;
  Watches watches_;
  std::unique_ptr<Ledger> ledger_;
  std::map<ShardNumber, Epoch> held_;
};

}  // namespace postrider::sim
