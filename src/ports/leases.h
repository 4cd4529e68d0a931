// The table of shard leases that the nodes of a cluster share (P8). The database's time decides
// when a lease ends.
//
// A node calls `take_turn` at least every fifth of a lease and decides from the view what to do
// next (engine/leases/node_leases.h). One object per node, used by one thread. Calls block, for at
// most a third of a lease. The specification is tests/contract/lease_contract.cc.
#pragma once

#include "core/base/result.h"
#include "core/model/lease.h"

namespace postrider {

class Leases {
 public:
  virtual ~Leases() = default;

  /// In one transaction, in this order:
  /// - the node is live for `turn.length` from now,
  /// - the shards in `release` become free, if this node holds them with that epoch,
  /// - all leases of the node that have not expired are renewed: they last `turn.length` from now,
  /// - the shards in `take` that are free or expired become leases of this node with the next
  ///   epoch. Others are left alone. So are shards whose last owner has a transaction with a fence
  ///   (P8) open: a later turn gets them.
  /// Returns the state after that. `release` and `take` contain shards of the node's pool, each at
  /// most once.
  ///
  /// Fails with unavailable. It is unknown then whether the turn was or will be taken: an
  /// interrupted request can reach the database late.
  [[nodiscard]] virtual Result<ClusterView> take_turn(const LeaseTurn& turn) = 0;

  /// Removes the node and frees all its shards. Call when nothing is in flight. Fails with
  /// unavailable; the leases then end by themselves.
  [[nodiscard]] virtual Result<void> leave() = 0;

 protected:
  Leases() = default;
  Leases(const Leases&) = default;
  Leases& operator=(const Leases&) = default;
};

}  // namespace postrider
