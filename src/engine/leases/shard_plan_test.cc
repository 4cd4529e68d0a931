#include "engine/leases/shard_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/leases/cluster_test.h"

namespace postrider {
namespace {

using test::Cluster;
using test::node_id;

constexpr Millis young{2'500};

ShardPlan plan_of(const Cluster& cluster) { return plan_shards(cluster.view(), "", young); }

int count_of(const ShardPlan& plan, int node) {
  return static_cast<int>(std::ranges::count(plan, std::optional{node_id(node)}));
}

/// The shards that the plan gives to a node that does not own them now.
std::vector<int> moves_to(const ShardPlan& plan, Cluster& cluster, int node) {
  std::vector<int> shards;
  for (int shard = 0; shard < shard_count; ++shard) {
    if (plan[static_cast<std::size_t>(shard)] == node_id(node) &&
        cluster.lease(shard).owner != node_id(node)) {
      shards.push_back(shard);
    }
  }
  return shards;
}

TEST(ShardPlan, TheOnlyNodeGetsEverything) {
  Cluster cluster;
  cluster.add(1);
  EXPECT_EQ(count_of(plan_of(cluster), 1), 256);
}

TEST(ShardPlan, NobodyGetsAnythingWithoutANode) {
  Cluster cluster;
  cluster.add(1, "other");
  cluster.add(2).leaving = true;
  cluster.give(2, 0, 256);
  EXPECT_EQ(plan_of(cluster), ShardPlan(256));
}

TEST(ShardPlan, FreeShardsAreSharedEqually) {
  Cluster cluster;
  for (int node = 1; node <= 3; ++node) {
    cluster.add(node).age = Millis{0};
  }
  const ShardPlan plan = plan_of(cluster);
  EXPECT_EQ(count_of(plan, 1), 86);
  EXPECT_EQ(count_of(plan, 2), 85);
  EXPECT_EQ(count_of(plan, 3), 85);
  EXPECT_EQ(plan[0], node_id(1));
  EXPECT_EQ(plan[1], node_id(2));
  EXPECT_EQ(plan[2], node_id(3));
  EXPECT_EQ(plan[3], node_id(1));
}

TEST(ShardPlan, ABalancedPoolStaysAsItIs) {
  Cluster cluster;
  cluster.add(1);
  cluster.add(2);
  cluster.add(3);
  cluster.give(1, 0, 85);
  cluster.give(2, 85, 85);
  cluster.give(3, 170, 86);
  const ShardPlan plan = plan_of(cluster);
  EXPECT_EQ(moves_to(plan, cluster, 1), std::vector<int>{});
  EXPECT_EQ(moves_to(plan, cluster, 2), std::vector<int>{});
  EXPECT_EQ(moves_to(plan, cluster, 3), std::vector<int>{});
}

TEST(ShardPlan, ANodeThatJoinsGetsTheLastShardsOfTheOthers) {
  Cluster cluster;
  cluster.add(1);
  cluster.add(2);
  cluster.add(3);
  cluster.give(1, 0, 128);
  cluster.give(2, 128, 128);
  const ShardPlan plan = plan_of(cluster);
  EXPECT_EQ(count_of(plan, 1), 86);
  EXPECT_EQ(count_of(plan, 2), 85);
  EXPECT_EQ(count_of(plan, 3), 85);
  EXPECT_EQ(moves_to(plan, cluster, 1), std::vector<int>{});
  EXPECT_EQ(moves_to(plan, cluster, 2), std::vector<int>{});
  EXPECT_EQ(plan[85], node_id(1));
  EXPECT_EQ(plan[86], node_id(3));
  EXPECT_EQ(plan[212], node_id(2));
  EXPECT_EQ(plan[213], node_id(3));
}

TEST(ShardPlan, AYoungNodeGetsOnlyShardsWithoutAnOwner) {
  Cluster cluster;
  cluster.add(1);
  cluster.add(2).age = young - Millis{1};
  cluster.give(1, 0, 256);
  EXPECT_EQ(count_of(plan_of(cluster), 1), 256);
  cluster.lease(7).owner.reset();
  EXPECT_EQ(moves_to(plan_of(cluster), cluster, 2), std::vector<int>{7});
  cluster.node(2).age = young;
  EXPECT_EQ(count_of(plan_of(cluster), 2), 128);
}

TEST(ShardPlan, AYoungNodeDoesNotKeepAnEstablishedOneFromItsShare) {
  Cluster cluster;
  cluster.add(1);
  cluster.add(2).age = Millis{0};
  cluster.add(3);
  cluster.add(4);
  cluster.give(1, 0, 192);
  cluster.give(4, 192, 64);
  const ShardPlan plan = plan_of(cluster);
  EXPECT_EQ(count_of(plan, 1), 128);
  EXPECT_EQ(count_of(plan, 2), 0);
  EXPECT_EQ(count_of(plan, 3), 64);
  EXPECT_EQ(count_of(plan, 4), 64);
}

TEST(ShardPlan, TheShardsOfALeavingNodeGoToTheOthers) {
  Cluster cluster;
  cluster.add(1).leaving = true;
  cluster.add(2);
  cluster.add(3).age = Millis{0};
  cluster.give(1, 0, 128);
  cluster.give(2, 128, 128);
  const ShardPlan plan = plan_of(cluster);
  EXPECT_EQ(count_of(plan, 2), 128);
  EXPECT_EQ(moves_to(plan, cluster, 2), std::vector<int>{});
  EXPECT_EQ(count_of(plan, 3), 128);
}

TEST(ShardPlan, ExpiredLeasesAndThoseOfUnknownNodesAreFree) {
  Cluster cluster;
  cluster.add(1);
  cluster.add(2);
  cluster.give(1, 0, 128);
  cluster.give(2, 128, 126);
  cluster.give(9, 254, 2);
  cluster.lease(3).expired = true;
  EXPECT_EQ(moves_to(plan_of(cluster), cluster, 2), (std::vector<int>{3, 255}));
  EXPECT_EQ(plan_of(cluster)[254], node_id(1));
}

TEST(ShardPlan, ThePlanStaysTheSameWhileShardsMove) {
  Cluster cluster;
  cluster.add(1);
  cluster.add(2);
  cluster.add(3);
  cluster.give(1, 0, 128);
  cluster.give(2, 128, 128);
  for (int shard = 127; shard >= 86; --shard) {
    cluster.give(3, shard, 1);
    const ShardPlan plan = plan_of(cluster);
    EXPECT_EQ(count_of(plan, 1), 86) << shard;
    EXPECT_EQ(count_of(plan, 2), 85) << shard;
  }
}

TEST(ShardPlan, MoreNodesThanShards) {
  Cluster cluster;
  for (int number = 1; number <= 255; ++number) {
    cluster.add(number);
  }
  cluster.add(0);
  for (int number = 256; number < 300; ++number) {
    cluster.add(number).identity.id.bytes[1] = 1;
  }
  std::map<NodeId, int> counts;
  for (const auto& owner : plan_of(cluster)) {
    ++counts[owner.value()];
  }
  EXPECT_EQ(counts.size(), 256u);
}

// ---------------------------------------------------------------- properties

/// Some nodes, of which some are leaving or young, and shards with these, no or unknown owners.
Cluster any_cluster() {
  Cluster cluster;
  const int nodes = *rc::gen::inRange(1, 12);
  for (int number = 1; number <= nodes; ++number) {
    ClusterNode& node =
        cluster.add(number, *rc::gen::weightedElement<std::string>({{9, ""}, {1, "b"}}));
    node.leaving = *rc::gen::weightedElement<bool>({{5, false}, {1, true}});
    node.age = *rc::gen::weightedElement<Millis>({{3, young}, {1, Millis{0}}});
  }
  const auto owners =
      *rc::gen::container<std::vector<int>>(shard_count, rc::gen::inRange(-1, nodes + 2));
  for (int shard = 0; shard < shard_count; ++shard) {
    if (const int owner = owners[static_cast<std::size_t>(shard)]; owner >= 0) {
      cluster.give(owner, shard, 1);
      cluster.lease(shard).expired = *rc::gen::weightedElement<bool>({{9, false}, {1, true}});
    }
  }
  return cluster;
}

/// How many shards each node that should own some does own.
std::map<NodeId, int> owned_by(const Cluster& cluster) {
  std::map<NodeId, int> owned;
  const ClusterView view = cluster.view();
  for (const ClusterNode& node : view.nodes) {
    if (node.identity.pool.empty() && !node.leaving) {
      owned[node.identity.id] = 0;
    }
  }
  for (const Lease& lease : view.leases) {
    if (lease.owner && !lease.expired && owned.contains(*lease.owner)) {
      ++owned[*lease.owner];
    }
  }
  return owned;
}

/// The number of shards that must change their owner in any plan with equal shares.
int fewest_moves(const Cluster& cluster) {
  std::vector<int> counts;
  for (const auto& [id, count] : owned_by(cluster)) {
    counts.push_back(count);
  }
  std::ranges::sort(counts, std::greater{});
  const int nodes = static_cast<int>(counts.size());
  int kept = 0;
  for (int place = 0; place < nodes; ++place) {
    const int quota = shard_count / nodes + (place < shard_count % nodes ? 1 : 0);
    kept += std::min(counts[static_cast<std::size_t>(place)], quota);
  }
  return shard_count - kept;
}

int moves_of(const ShardPlan& plan, const Cluster& cluster) {
  int moves = 0;
  const ClusterView view = cluster.view();
  for (std::size_t shard = 0; shard < shard_count; ++shard) {
    moves += plan[shard] && view.leases[shard].is_held_by(*plan[shard]) ? 0 : 1;
  }
  return moves;
}

void establish_all(Cluster& cluster) {
  for (const ClusterNode& node : cluster.view().nodes) {
    cluster.node(node.identity.id.bytes[0]).age = young;
  }
}

RC_GTEST_PROP(ShardPlanProperty, SharesDifferByOneAtMostWithTheFewestMoves, ()) {
  Cluster cluster = any_cluster();
  establish_all(cluster);
  const ShardPlan plan = plan_of(cluster);
  std::map<NodeId, int> counts = owned_by(cluster);
  if (counts.empty()) {
    RC_ASSERT(plan == ShardPlan(shard_count));
    return;
  }
  for (auto& [id, count] : counts) {
    count = static_cast<int>(std::ranges::count(plan, std::optional{id}));
  }
  int total = 0;
  const int each = shard_count / static_cast<int>(counts.size());
  for (const auto& [id, count] : counts) {
    RC_ASSERT(count == each || count == each + 1);
    total += count;
  }
  RC_ASSERT(total == int{shard_count});
  RC_ASSERT(moves_of(plan, cluster) == fewest_moves(cluster));
}

RC_GTEST_PROP(ShardPlanProperty, APlanThatWasCarriedOutIsFinal, ()) {
  Cluster cluster = any_cluster();
  const ShardPlan plan = plan_of(cluster);
  for (int shard = 0; shard < shard_count; ++shard) {
    if (const std::optional<NodeId>& owner = plan[static_cast<std::size_t>(shard)]) {
      cluster.give(owner->bytes[0], shard, 1);
    }
  }
  RC_ASSERT(plan_of(cluster) == plan);
}

/// While shards move one by one, nobody plans anything else.
RC_GTEST_PROP(ShardPlanProperty, APlanThatIsCarriedOutInPartNeedsOnlyTheRest, ()) {
  Cluster cluster = any_cluster();
  establish_all(cluster);
  const ShardPlan plan = plan_of(cluster);
  for (int shard = 0; shard < shard_count; ++shard) {
    const std::optional<NodeId>& owner = plan[static_cast<std::size_t>(shard)];
    if (owner && !cluster.lease(shard).is_held_by(*owner) && *rc::gen::arbitrary<bool>()) {
      cluster.give(owner->bytes[0], shard, 1);
    }
  }
  const int moves = moves_of(plan, cluster);
  RC_ASSERT(moves_of(plan_of(cluster), cluster) == moves);
}

RC_GTEST_PROP(ShardPlanProperty, AYoungNodeTakesNothingFromOthers, ()) {
  const Cluster cluster = any_cluster();
  const ShardPlan plan = plan_of(cluster);
  const std::map<NodeId, int> staying = owned_by(cluster);
  const ClusterView view = cluster.view();
  for (const ClusterNode& node : view.nodes) {
    for (std::size_t shard = 0; shard < shard_count && node.age < young; ++shard) {
      const Lease& lease = view.leases[shard];
      if (plan[shard] == node.identity.id && !lease.is_held_by(node.identity.id)) {
        const bool is_free = !lease.owner || lease.expired || !staying.contains(*lease.owner);
        RC_ASSERT(is_free);
      }
    }
  }
}

}  // namespace
}  // namespace postrider
