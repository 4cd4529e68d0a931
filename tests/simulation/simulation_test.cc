// The engine and its ShardHost under crashes, lost answers, ambiguous commits and clock jumps: one
// check per promise.
// Replay a failing seed with `simulate --seed S --trace`.
#include <cstdint>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulation/seeds.h"
#include "tests/simulation/world.h"

namespace postrider::sim {
namespace {

constexpr int fixed_seed_count = 500;
constexpr int fresh_seed_count = 20;
constexpr int crowded_seed_count = 30;

void expect_clean(const Scenario& scenario) {
  const RunResult result = run_world(scenario);
  for (const std::string& violation : result.violations) {
    ADD_FAILURE() << violation;
  }
  EXPECT_EQ(result.trace_hash, run_world(scenario).trace_hash) << "two runs differ";
}

void expect_clean_seed(std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("replay with: simulate --seed {} --trace", seed));
  expect_clean(make_scenario(seed));
}

void expect_clean_crowd(std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("replay with: simulate --crowded --seed {} --trace", seed));
  expect_clean(make_crowded_scenario(seed));
}

TEST(Simulation, KeepsEveryPromiseInTheFixedSeeds) {
  check_fixed_seeds(fixed_seed_count, expect_clean_seed);
}

TEST(Simulation, KeepsEveryPromiseInFreshSeeds) {
  check_fresh_seeds(fresh_seed_count, expect_clean_seed);
}

TEST(Simulation, ReachesEveryReceiverOfACrowdWithABacklog) {
  check_fixed_seeds(crowded_seed_count, expect_clean_crowd);
  check_fresh_seeds(fresh_seed_count, expect_clean_crowd);
}

TEST(Simulation, PublishesAndAttemptsALot) {
  std::uint64_t attempts = 0;
  std::uint64_t acknowledged = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RunResult result = run_world(make_scenario(seed));
    attempts += result.attempts;
    acknowledged += result.acknowledged;
  }
  EXPECT_GT(acknowledged, 500u);
  EXPECT_GT(attempts, acknowledged);
}

}  // namespace
}  // namespace postrider::sim
