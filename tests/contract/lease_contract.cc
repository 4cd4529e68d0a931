#include "tests/contract/lease_contract.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <utility>

namespace postrider::test {
namespace {

using namespace std::chrono_literals;

constexpr Millis length = 1h;

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LeaseContract);

LeaseContract::Node LeaseContract::join(int number, std::string pool) {
  NodeIdentity identity{.id = NodeId{{static_cast<std::uint8_t>(number)}},
                        .pool = std::move(pool),
                        .address = "node-" + std::to_string(number) + ":8080"};
  std::unique_ptr<Leases> leases = bench_->join(identity);
  return {.identity = std::move(identity), .leases = std::move(leases)};
}

ClusterView LeaseContract::turn(Node& node, LeaseTurn turn) {
  turn.length = length;
  Result<ClusterView> view = node.leases->take_turn(turn);
  EXPECT_TRUE(view.has_value()) << view.error().message;
  // So that a test can read any lease.
  return view ? *std::move(view) : ClusterView{.nodes = {}, .leases = std::vector<Lease>(256)};
}

ClusterView LeaseContract::take(Node& node, Shards shards) {
  return turn(node, {.take = std::move(shards)});
}

ClusterView LeaseContract::release(Node& node, std::vector<ShardEpoch> shards) {
  return turn(node, {.release = std::move(shards)});
}

TEST_P(LeaseContract, AtFirstAllShardsAreFree) {
  Node node = join(1);
  const ClusterView view = turn(node);
  EXPECT_EQ(view.leases, std::vector<Lease>(256));
  ASSERT_EQ(view.nodes.size(), 1u);
  EXPECT_EQ(view.nodes[0].identity, node.identity);
  EXPECT_EQ(view.nodes[0].turns, 1u);
  EXPECT_LT(view.nodes[0].age, 10min);
  EXPECT_FALSE(view.nodes[0].leaving);
}

TEST_P(LeaseContract, AFreeShardIsTaken) {
  Node node = join(1);
  const ClusterView view = take(node, {0, 7, 255});
  EXPECT_EQ(view.leases[0], held(node, 1));
  EXPECT_EQ(view.leases[7], held(node, 1));
  EXPECT_EQ(view.leases[255], held(node, 1));
  EXPECT_EQ(view.leases[1], free_after(0));
  EXPECT_EQ(turn(node).leases, view.leases);
}

TEST_P(LeaseContract, AShardOfAnotherNodeIsNotTaken) {
  Node first = join(1);
  Node second = join(2);
  take(first, {3});
  const ClusterView view = take(second, {2, 3, 4});
  EXPECT_EQ(view.leases[2], held(second, 1));
  EXPECT_EQ(view.leases[3], held(first, 1));
  EXPECT_EQ(view.leases[4], held(second, 1));
  EXPECT_EQ(turn(first).leases, view.leases);
}

TEST_P(LeaseContract, AShardThatIsHeldAlreadyKeepsItsEpoch) {
  Node node = join(1);
  take(node, {3});
  EXPECT_EQ(take(node, {3}).leases[3], held(node, 1));
}

TEST_P(LeaseContract, AnExpiredLeaseCanBeTakenByAnyNode) {
  Node first = join(1);
  Node second = join(2);
  take(first, {3, 4});
  bench_->pass(length - 5min);
  EXPECT_EQ(take(second, {3}).leases[3], held(first, 1));
  bench_->pass(5min);
  const ClusterView view = take(second, {3});
  EXPECT_EQ(view.leases[3], held(second, 2));
  EXPECT_EQ(view.leases[4], expired(first, 1));
}

TEST_P(LeaseContract, EachTurnRenewsAllLeases) {
  Node first = join(1);
  Node second = join(2);
  take(first, {3});
  bench_->pass(length - 5min);
  take(first, {4});
  bench_->pass(length - 5min);
  const ClusterView view = take(second, {3, 4});
  EXPECT_EQ(view.leases[3], held(first, 1));
  EXPECT_EQ(view.leases[4], held(first, 1));
}

TEST_P(LeaseContract, ALeaseThatHasExpiredIsNotRenewed) {
  Node node = join(1);
  take(node, {3, 4});
  bench_->pass(length);
  EXPECT_EQ(turn(node).leases[3], expired(node, 1));
  const ClusterView view = take(node, {3});
  EXPECT_EQ(view.leases[3], held(node, 2));
  EXPECT_EQ(view.leases[4], expired(node, 1));
}

TEST_P(LeaseContract, AReleasedShardIsFree) {
  Node first = join(1);
  Node second = join(2);
  take(first, {3, 4});
  const ClusterView view = release(first, {{.shard = 3, .epoch = 1}});
  EXPECT_EQ(view.leases[3], free_after(1));
  EXPECT_EQ(view.leases[4], held(first, 1));
  EXPECT_EQ(take(second, {3}).leases[3], held(second, 2));
}

TEST_P(LeaseContract, ALateReleaseHasNoEffect) {
  Node first = join(1);
  Node second = join(2);
  take(first, {3, 4});
  release(first, {{.shard = 3, .epoch = 1}});
  take(first, {3});
  take(second, {5});
  const ClusterView view = release(first, {{.shard = 3, .epoch = 1}, {.shard = 5, .epoch = 1}});
  EXPECT_EQ(view.leases[3], held(first, 2));
  EXPECT_EQ(view.leases[5], held(second, 1));
}

TEST_P(LeaseContract, AShardIsReleasedBeforeItIsTaken) {
  Node node = join(1);
  take(node, {3});
  const ClusterView view = turn(node, {.release = {{.shard = 3, .epoch = 1}}, .take = {3}});
  EXPECT_EQ(view.leases[3], held(node, 2));
}

TEST_P(LeaseContract, ANodeIsLiveAsLongAsALease) {
  Node first = join(1);
  Node second = join(2);
  turn(first, {.leaving = true});
  ClusterView view = turn(second);
  ASSERT_EQ(view.nodes.size(), 2u);
  EXPECT_EQ(view.nodes[0].identity, first.identity);
  EXPECT_TRUE(view.nodes[0].leaving);
  EXPECT_EQ(view.nodes[1].identity, second.identity);
  EXPECT_FALSE(view.nodes[1].leaving);

  bench_->pass(length - 5min);
  view = turn(second);
  ASSERT_EQ(view.nodes.size(), 2u);
  EXPECT_EQ(view.nodes[0].turns, 1u);
  EXPECT_EQ(view.nodes[1].turns, 2u);
  EXPECT_GE(view.nodes[1].age, length - 5min);
  EXPECT_LT(view.nodes[1].age, length);
  EXPECT_GT(view.nodes[0].left, 0min);
  EXPECT_LE(view.nodes[0].left, 5min);
  EXPECT_GT(view.nodes[1].left, length - 5min);
  EXPECT_LE(view.nodes[1].left, length);

  bench_->pass(5min);
  view = turn(second);
  ASSERT_EQ(view.nodes.size(), 1u);
  EXPECT_EQ(view.nodes[0].identity, second.identity);
}

TEST_P(LeaseContract, ANodeThatComesBackIsNew) {
  Node first = join(1);
  Node second = join(2);
  turn(first, {.leaving = true});
  turn(second);
  bench_->pass(length);
  const ClusterView view = turn(first);
  ASSERT_EQ(view.nodes.size(), 1u);
  EXPECT_EQ(view.nodes[0].turns, 1u);
  EXPECT_LT(view.nodes[0].age, 10min);
  EXPECT_FALSE(view.nodes[0].leaving);
}

TEST_P(LeaseContract, ANodeThatLeavesFreesItsShards) {
  Node first = join(1);
  Node second = join(2);
  take(first, {3, 4});
  take(second, {5});
  ASSERT_TRUE(first.leases->leave().has_value());
  const ClusterView view = turn(second);
  EXPECT_EQ(view.nodes.size(), 1u);
  EXPECT_EQ(view.leases[3], free_after(1));
  EXPECT_EQ(view.leases[4], free_after(1));
  EXPECT_EQ(view.leases[5], held(second, 1));
  EXPECT_EQ(take(second, {3}).leases[3], held(second, 2));
}

TEST_P(LeaseContract, LeavingTwiceOrWithoutATurnIsNoError) {
  Node node = join(1);
  EXPECT_TRUE(node.leases->leave().has_value());
  take(node, {3});
  EXPECT_TRUE(node.leases->leave().has_value());
  EXPECT_TRUE(node.leases->leave().has_value());
  EXPECT_EQ(turn(node).leases[3], free_after(1));
}

TEST_P(LeaseContract, PoolsAreApartButTheirNodesAreSeen) {
  Node first = join(1);
  Node second = join(2, "gold");
  Node third = join(3, "it's \"odd\" \\ \xC3\xBC");
  take(first, {3});
  take(second, {3, 4});
  const ClusterView view = take(third, {4});
  EXPECT_EQ(view.leases[3], free_after(0));
  EXPECT_EQ(view.leases[4], held(third, 1));
  ASSERT_EQ(view.nodes.size(), 3u);
  EXPECT_EQ(view.nodes[0].identity, first.identity);
  EXPECT_EQ(view.nodes[1].identity, second.identity);
  EXPECT_EQ(view.nodes[2].identity, third.identity);
  EXPECT_EQ(turn(first).leases[3], held(first, 1));
  EXPECT_EQ(turn(first).leases[4], free_after(0));
  EXPECT_EQ(turn(second).leases[3], held(second, 1));
}

TEST_P(LeaseContract, EachShardHasOneOwnerIfManyNodesTakeAtTheSameTime) {
  constexpr int node_count = 4;
  Shards all(256);
  std::generate(all.begin(), all.end(), [next = ShardNumber{0}]() mutable { return next++; });
  std::vector<Node> nodes;
  for (int number = 1; number <= node_count; ++number) {
    nodes.push_back(join(number));
  }
  std::vector<std::future<ClusterView>> turns;
  for (Node& node : nodes) {
    turns.push_back(std::async(std::launch::async, [&] {
      // Each begins with another quarter.
      Shards shards = all;
      std::ranges::rotate(shards, shards.begin() + 64 * (node.identity.id.bytes[0] - 1));
      ClusterView view;
      for (int part = 0; part < node_count; ++part) {
        view = take(node, {shards.begin() + 64 * part, shards.begin() + 64 * (part + 1)});
      }
      return view;
    }));
  }
  for (std::future<ClusterView>& each : turns) {
    EXPECT_EQ(each.get().leases.size(), 256u);
  }
  const ClusterView view = turn(nodes.front());
  for (const Lease& lease : view.leases) {
    EXPECT_TRUE(lease.owner.has_value());
    EXPECT_EQ(lease.epoch, 1);
    EXPECT_FALSE(lease.expired);
  }
}

}  // namespace postrider::test
