// Leases of shards: which node of a cluster may send for which webhooks (P8). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/shard_number.h"

namespace postrider {

struct NodeKind {
  static constexpr std::string_view prefix = "nod_";
};
/// Random for each start of a server.
using NodeId = Id<NodeKind>;

/// The number of a lease. Grows by one each time a node takes the shard. The first lease has 1.
using Epoch = std::int64_t;

/// How a server identifies itself to the others.
struct NodeIdentity {
  NodeId id;
  std::string pool;     // Works the tenants that are bound to it. Empty: the default pool.
  std::string address;  // Shown to operators.

  bool operator==(const NodeIdentity&) const = default;
};

struct ClusterNode {
  NodeIdentity identity;
  bool leaving = false;     // Hands its shards over and takes none.
  std::uint64_t turns = 0;  // The number of turns that it has taken.
  Millis age{0};            // Since its first turn.
  Millis left{0};           // Until it and its leases expire, if it takes no turn before.

  bool operator==(const ClusterNode&) const = default;
};

struct Lease {
  std::optional<NodeId> owner;  // nullopt: the shard is free.
  Epoch epoch = 0;
  bool expired = false;  // Any node may take the shard, although it has an owner.

  bool operator==(const Lease&) const = default;

  [[nodiscard]] bool is_held_by(NodeId id) const { return owner == id && !expired; }
};

/// The time from one turn of a node to the next one at most, if leases last `length`. A clock of
/// leases that jumps is believed for so long at most.
[[nodiscard]] constexpr Millis turn_interval(Millis length) { return length / 5; }

/// A node stops so long before its leases end: the clock of leases may have jumped forward once,
/// what is in flight must be ended, and clocks run at different rates.
[[nodiscard]] constexpr Millis lease_margin(Millis length) {
  return turn_interval(length) + length / 5;
}

/// Identifies one lease of a shard.
struct ShardEpoch {
  ShardNumber shard = 0;
  Epoch epoch = 0;

  auto operator<=>(const ShardEpoch&) const = default;
};

/// What a node asks for. See ports/leases.h.
struct LeaseTurn {
  Millis length{0};  // Of the leases that are renewed and taken.
  bool leaving = false;
  std::vector<ShardEpoch> release = {};
  std::vector<ShardNumber> take = {};

  bool operator==(const LeaseTurn&) const = default;
};

/// The state of the cluster at the end of a turn.
struct ClusterView {
  std::vector<ClusterNode> nodes;  // Of all pools, live ones only, in the order of their ids.
  std::vector<Lease> leases;       // Of the node's own pool. One per shard, in their order.

  bool operator==(const ClusterView&) const = default;
};

}  // namespace postrider
