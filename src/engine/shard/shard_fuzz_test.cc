// Random inputs and faults against a model of the store: nothing is lost, nothing is sent out of
// order, no limit is exceeded, and after the faults end every delivery reaches a final state.
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/shard/shard.h"
#include "engine/shard/shard_world_test.h"

namespace postrider {
namespace {

class ShardFuzz : public testing::TestWithParam<test::ShardWorldOptions> {};

TEST_P(ShardFuzz, EverythingReachesAFinalState) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    test::ShardWorld world{seed, GetParam()};
    world.run_with_faults(600);
    EXPECT_TRUE(world.run_until_final()) << world.unfinished();
    if (HasFailure()) {
      return;
    }
  }
}

TEST_P(ShardFuzz, TheSameSeedAndInputsGiveTheSameCommands) {
  const auto run = [](std::uint64_t seed) {
    test::ShardWorld world{seed, GetParam()};
    world.run_with_faults(1'000);
    return world.log();
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(run(seed), run(seed));
    EXPECT_NE(run(seed), run(seed + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Orderings, ShardFuzz,
                         testing::Values(test::ShardWorldOptions{Ordering::none, false},
                                         test::ShardWorldOptions{Ordering::per_event_type, false},
                                         test::ShardWorldOptions{Ordering::strict, false},
                                         test::ShardWorldOptions{Ordering::none, true},
                                         test::ShardWorldOptions{Ordering::per_event_type, true},
                                         test::ShardWorldOptions{Ordering::strict, true}),
                         [](const auto& param) {
                           return std::string{to_string(param.param.ordering)} +
                                  (param.param.leased ? "_leased" : "");
                         });

}  // namespace
}  // namespace postrider
