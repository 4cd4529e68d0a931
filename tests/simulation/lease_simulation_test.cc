// The leases of several nodes under pauses, partitions, lost and late messages, crashes and clocks
// of different rates. Replay a failing seed with `simulate --leases --seed S --trace`.
#include <cstdint>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/lease_world.h"
#include "tests/simulation/seeds.h"

namespace postrider::sim {
namespace {

constexpr int fixed_seed_count = 500;
constexpr int fresh_seed_count = 20;

void expect_clean(std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("replay with: simulate --leases --seed {} --trace", seed));
  const LeaseRunResult result = run_lease_world(make_lease_scenario(seed));
  for (const std::string& violation : result.violations) {
    ADD_FAILURE() << violation;
  }
  EXPECT_EQ(result.trace_hash, run_lease_world(make_lease_scenario(seed)).trace_hash)
      << "two runs differ";
}

TEST(LeaseSimulation, OneNodeSendsForAShardInTheFixedSeeds) {
  check_fixed_seeds(fixed_seed_count, expect_clean);
}

TEST(LeaseSimulation, OneNodeSendsForAShardInFreshSeeds) {
  check_fresh_seeds(fresh_seed_count, expect_clean);
}

TEST(LeaseSimulation, ManyShardsChangeTheirOwnersAndMuchIsSent) {
  std::uint64_t sends = 0;
  std::uint64_t takeovers = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LeaseRunResult result = run_lease_world(make_lease_scenario(seed));
    sends += result.sends;
    takeovers += result.takeovers;
  }
  EXPECT_GT(sends, 20'000u);
  EXPECT_GT(takeovers, 20'000u);
}

}  // namespace
}  // namespace postrider::sim
