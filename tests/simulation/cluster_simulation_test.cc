// Several servers on one database under pauses longer than a lease, partitions, lost and ambiguous
// commits, crashes, joins and leaves, and clocks that differ: one check per promise.
// Replay a failing seed with `simulate --cluster --seed S --trace`.
#include <cstdint>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/cluster_world.h"
#include "tests/simulation/seeds.h"

namespace postrider::sim {
namespace {

constexpr int fixed_seed_count = 400;
constexpr int fresh_seed_count = 10;

void expect_clean(std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("replay with: simulate --cluster --seed {} --trace", seed));
  const RunResult result = run_cluster_world(make_cluster_scenario(seed));
  for (const std::string& violation : result.violations) {
    ADD_FAILURE() << violation;
  }
  EXPECT_EQ(result.trace_hash, run_cluster_world(make_cluster_scenario(seed)).trace_hash)
      << "two runs differ";
}

TEST(ClusterSimulation, KeepsEveryPromiseInTheFixedSeeds) {
  check_fixed_seeds(fixed_seed_count, expect_clean);
}

TEST(ClusterSimulation, KeepsEveryPromiseInFreshSeeds) {
  check_fresh_seeds(fresh_seed_count, expect_clean);
}

TEST(ClusterSimulation, PublishesAndAttemptsALot) {
  std::uint64_t attempts = 0;
  std::uint64_t acknowledged = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RunResult result = run_cluster_world(make_cluster_scenario(seed));
    attempts += result.attempts;
    acknowledged += result.acknowledged;
  }
  EXPECT_GT(acknowledged, 500u);
  EXPECT_GT(attempts, acknowledged);
}

}  // namespace
}  // namespace postrider::sim
