// The shards that this node holds, as Peers was told. The ledger and Peers share it. Store thread
// only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/ids.h"
#include "core/model/event.h"
#include "core/model/lease.h"

namespace postrider::postgres {

class HeldShards {
 public:
  /// See Peers::join. Until it is called, the node works all webhooks and holds no shard.
  void join(std::string pool) { pool_ = std::move(pool); }
  [[nodiscard]] bool has_joined() const { return pool_.has_value(); }
  /// The pool of this node. Call only after `join`.
  [[nodiscard]] const std::string& pool() const { return *pool_; }

  void hold(ShardEpoch lease) { epochs_.insert_or_assign(lease.shard, lease.epoch); }
  void release(ShardNumber shard) { epochs_.erase(shard); }
  [[nodiscard]] bool holds(ShardNumber shard) const { return epochs_.contains(shard); }
  /// The epoch of each held shard.
  [[nodiscard]] const std::map<ShardNumber, Epoch>& epochs() const { return epochs_; }

  void set_pools(std::map<TenantId, std::string> pools) { pools_ = std::move(pools); }
  /// The pool whose nodes work the tenant's webhooks.
  [[nodiscard]] const std::string& pool_of(const TenantId& tenant_id) const {
    static const std::string default_pool;
    const auto found = pools_.find(tenant_id);
    return found == pools_.end() ? default_pool : found->second;
  }

 private:
  std::optional<std::string> pool_;
  std::map<ShardNumber, Epoch> epochs_;
  std::map<TenantId, std::string> pools_;  // Without tenants of the default pool.
};

}  // namespace postrider::postgres
