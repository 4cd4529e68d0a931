// Which shards this node may store decisions about in one transaction: those that it holds under a
// lease that no other node has taken since (P8). They cannot be taken until the transaction ends;
// see leases/lease_fence.h. Store thread only.
//
//   ShardFence fence{held};
//   fence.add(shard_of(webhook_id));
//   fence.queue(session);
//   POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
//   fence.take(answers);
//   if (fence.allows(shard_of(webhook_id))) …
//
// Sends nothing, and allows everything, if the node has not joined a cluster.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/shard_number.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/leases/lease_fence.h"
#include "adapters/postgres/store/peers/held_shards.h"

namespace postrider::postgres {

class ShardFence {
 public:
  /// `held` must outlive this object and must not change.
  explicit ShardFence(const HeldShards& held) : held_(held) {}

  /// Adds a shard of this node's pool to the check, unless it was added before.
  void add(ShardNumber shard);
  /// Like `add`, for the shard of a delivery about which this node has decided.
  void add_decision(ShardNumber shard);

  /// Adds the check to the session's next exchange, if shards were added. Can be called again after
  /// `take`, if more shards were added.
  void queue(Session& session);
  void take(const std::vector<Rows>& answers);
  /// Calls `queue`, exchanges and calls `take`, if there are shards to check.
  [[nodiscard]] Result<void> check(Session& session);

  /// For a caller that asks in a statement of its own: what to ask for, and what was found lost.
  [[nodiscard]] LeaseFence start();
  void finish(const std::vector<std::size_t>& lost);

  [[nodiscard]] bool allows(ShardNumber shard) const {
    return !held_.has_joined() || verified_.test(shard);
  }
  /// The held shards that another node has taken, and the shards passed to `add_decision` that are
  /// not held. Ascending.
  [[nodiscard]] std::vector<ShardNumber> lost() const;

 private:
  using Shards = std::bitset<shard_count>;

  const HeldShards& held_;
  Shards asked_;
  Shards verified_;
  Shards lost_;
  std::vector<ShardNumber> added_;  // Not checked yet.
  std::vector<ShardNumber> sent_;   // In the order of the statement.
  std::optional<std::size_t> answer_;
};

}  // namespace postrider::postgres
