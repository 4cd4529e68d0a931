#include "engine/leases/shard_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/assert.h"

namespace postrider {
namespace {

struct Share {
  NodeId id;
  bool established = true;
  std::vector<ShardNumber> owned = {};  // Ascending. Shrinks while shards are given away.
  std::size_t quota = 0;
  std::size_t received = 0;

  [[nodiscard]] std::size_t size() const { return owned.size() + received; }
  [[nodiscard]] bool needs_more() const { return size() < quota; }
};
using Shares = std::vector<Share>;

/// The nodes that should own shards, in the order of their ids.
Shares shares_of(const ClusterView& view, std::string_view pool, Millis established_after) {
  Shares shares;
  for (const ClusterNode& node : view.nodes) {
    if (node.identity.pool == pool && !node.leaving) {
      shares.push_back({.id = node.identity.id, .established = node.age >= established_after});
    }
  }
  std::ranges::sort(shares, {}, &Share::id);
  for (std::size_t shard = 0; shard < view.leases.size(); ++shard) {
    const Lease& lease = view.leases[shard];
    if (!lease.owner || lease.expired) {
      continue;
    }
    const auto share = std::ranges::lower_bound(shares, *lease.owner, {}, &Share::id);
    if (share != shares.end() && share->id == *lease.owner) {
      share->owned.push_back(static_cast<ShardNumber>(shard));
    }
  }
  return shares;
}

/// Nodes that already have more shards get the larger quotas, so that fewer shards move. The order
/// depends on nothing else, so the quotas stay the same while shards move.
void set_quotas(Shares& shares) {
  const std::size_t each = shard_count / shares.size();
  const auto fills = [each](const Share& share) { return share.size() > each; };
  std::ranges::stable_partition(shares, fills);
  const std::size_t larger = shard_count % shares.size();
  for (std::size_t place = 0; place < shares.size(); ++place) {
    shares[place].quota = each + (place < larger ? 1 : 0);
  }
}

/// Among the nodes below their quota, the one with the fewest shards; the first one of equals.
Share* neediest(Shares& shares, bool established_only) {
  Share* found = nullptr;
  for (Share& share : shares) {
    const bool fits = share.needs_more() && (share.established || !established_only);
    if (fits && (found == nullptr || share.size() < found->size())) {
      found = &share;
    }
  }
  return found;
}

/// The node that exceeds its quota the most; the first one of equals.
Share* largest(Shares& shares) {
  const auto surplus = [](const Share& share) {
    return share.owned.size() > share.quota ? share.owned.size() - share.quota : 0;
  };
  const auto found = std::ranges::max_element(shares, {}, surplus);
  return surplus(*found) > 0 ? &*found : nullptr;
}

}  // namespace

ShardPlan plan_shards(const ClusterView& view, std::string_view pool, Millis established_after) {
  POSTRIDER_ASSERT(view.leases.size() == shard_count);
  ShardPlan plan(shard_count);
  Shares shares = shares_of(view, pool, established_after);
  if (shares.empty()) {
    return plan;
  }
  set_quotas(shares);
  for (const Share& share : shares) {
    for (const ShardNumber shard : share.owned) {
      plan[shard] = share.id;
    }
  }
  for (std::optional<NodeId>& owner : plan) {
    if (!owner) {
      Share* const share = neediest(shares, false);
      POSTRIDER_ASSERT(share != nullptr);  // The quotas add up to all shards.
      owner = share->id;
      ++share->received;
    }
  }
  while (Share* const taker = neediest(shares, true)) {
    Share* const giver = largest(shares);
    POSTRIDER_ASSERT(giver != nullptr);
    plan[giver->owned.back()] = taker->id;
    giver->owned.pop_back();
    ++taker->received;
  }
  return plan;
}

}  // namespace postrider
