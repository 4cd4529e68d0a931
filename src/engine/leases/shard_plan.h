// Which node of a pool should own which shard. Pure, and a function of the view alone: nodes that
// see the same agree without talking to each other.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "core/model/lease.h"

namespace postrider {

/// The intended owner of each shard, by number. nullopt if no node can have it.
using ShardPlan = std::vector<std::optional<NodeId>>;

/// - Every node of the pool that is not leaving gets an equal share; shares differ by one at most.
/// - As few shards as possible change their owner. A node that has more than its share gives those
///   with the highest numbers.
/// - A node younger than `established_after` gets only shards that have no owner, or a leaving one.
///   So a server that crashes soon after each start moves no shards.
[[nodiscard]] ShardPlan plan_shards(const ClusterView& view, std::string_view pool,
                                    Millis established_after);

}  // namespace postrider
