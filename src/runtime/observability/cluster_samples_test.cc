#include "runtime/observability/cluster_samples.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr NodeId self{{1}};
constexpr NodeId other{{2}};

ClusterNode node(NodeId id, std::string pool) {
  return {.identity = {.id = id, .pool = std::move(pool), .address = {}}};
}

ClusterStatus status_of(std::vector<ClusterNode> nodes) {
  return {.self = self,
          .view = {.nodes = std::move(nodes), .leases = std::vector<Lease>(shard_count)}};
}

/// One line per sample.
std::vector<std::string> lines(const std::vector<MetricSample>& samples) {
  std::vector<std::string> result;
  for (const MetricSample& sample : samples) {
    std::string line = sample.name;
    for (const auto& [name, value] : sample.labels) {
      line += " " + name + "=" + value;
    }
    result.push_back(line + " " + std::to_string(static_cast<std::int64_t>(sample.value)));
  }
  return result;
}

TEST(ClusterSamples, CountLiveNodesByPoolAndTheShardsOfThisOne) {
  ClusterStatus status = status_of({node(self, ""), node(other, "eu"), node(NodeId{{3}}, "")});
  status.view.leases[0] = {.owner = self, .epoch = 1};
  status.view.leases[7] = {.owner = self, .epoch = 3};
  status.view.leases[8] = {.owner = self, .epoch = 3, .expired = true};
  status.view.leases[9] = {.owner = other, .epoch = 1};
  EXPECT_EQ(
      lines(to_samples(status, {.pool = "", .turns = 9, .turn_failures = 2, .takeovers = 4})),
      (std::vector<std::string>{
          "postrider_cluster_nodes pool_id=default 2", "postrider_cluster_nodes pool_id=eu 1",
          "postrider_cluster_shards pool_id=default 256", "postrider_cluster_shards pool_id=eu 256",
          "postrider_cluster_shards_held pool_id=default 2", "postrider_cluster_turns_total 9",
          "postrider_cluster_turn_failures_total 2", "postrider_cluster_takeovers_total 4"}));
}

TEST(ClusterSamples, ShowTheOwnPoolAlsoWithoutALiveNode) {
  const std::vector<std::string> shown = lines(to_samples(status_of({}), {.pool = "eu"}));
  EXPECT_EQ(shown.at(0), "postrider_cluster_nodes pool_id=eu 0");
  EXPECT_EQ(shown.at(2), "postrider_cluster_shards_held pool_id=eu 0");
}

TEST(ClusterSamples, AreOnlyTotalsBeforeTheFirstContact) {
  EXPECT_EQ(lines(to_samples(std::nullopt, {.turn_failures = 1})),
            (std::vector<std::string>{"postrider_cluster_turns_total 0",
                                      "postrider_cluster_turn_failures_total 1",
                                      "postrider_cluster_takeovers_total 0"}));
}

TEST(ClusterSamples, ATakeoverIsAnExpiredLeaseOfAnotherNodeThatIsNowHeld) {
  ClusterView before = status_of({}).view;
  ClusterView after = before;
  EXPECT_EQ(takeovers_between(before, after, self), 0u);

  before.leases[0] = {.owner = other, .epoch = 1, .expired = true};
  after.leases[0] = {.owner = self, .epoch = 2};
  EXPECT_EQ(takeovers_between(before, after, self), 1u);

  before.leases[1] = {.owner = other, .epoch = 1};  // Released by its owner.
  after.leases[1] = {.owner = self, .epoch = 2};
  before.leases[2] = {.owner = self, .epoch = 1, .expired = true};  // Its own.
  after.leases[2] = {.owner = self, .epoch = 2};
  before.leases[3] = {.owner = std::nullopt, .epoch = 1};
  after.leases[3] = {.owner = self, .epoch = 2};
  before.leases[4] = {.owner = other, .epoch = 1, .expired = true};  // Taken by a third.
  after.leases[4] = {.owner = NodeId{{3}}, .epoch = 2};
  EXPECT_EQ(takeovers_between(before, after, self), 1u);
  EXPECT_EQ(takeovers_between({}, after, self), 0u) << "nothing was seen before";
}

}  // namespace
}  // namespace postrider
