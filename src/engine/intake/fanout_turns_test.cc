#include "engine/intake/fanout_turns.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(FanoutTurns, TenantsTakeTurns) {
  FanoutTurns turns;
  EXPECT_EQ(turns.next(), std::nullopt);
  turns.add("giant", 1'000);
  turns.add("small", 10);
  std::vector<TenantId> served;
  for (int i = 0; i < 3; ++i) {
    served.push_back(turns.next().value());
    turns.end_turn(served.back(), 5, false);
  }
  EXPECT_EQ(served, (std::vector<TenantId>{"giant", "small", "giant"}));
  EXPECT_EQ(turns.next(), "small");
  EXPECT_EQ(turns.remaining(), 995u);
  turns.end_turn("small", 5, true);
  EXPECT_EQ(turns.next(), "giant");
  EXPECT_EQ(turns.remaining(), 990u);
}

TEST(FanoutTurns, ATenantIsServedUntilTheStoreSaysThatItIsFinished) {
  FanoutTurns turns;
  turns.add("acme", 3);
  turns.end_turn("acme", 5, false);  // An unknown note was stored by a commit that failed.
  EXPECT_EQ(turns.remaining(), 0u);
  EXPECT_EQ(turns.next(), "acme");
  turns.end_turn("acme", 0, true);
  EXPECT_EQ(turns.next(), std::nullopt);
}

TEST(FanoutTurns, ResetReplacesEverything) {
  FanoutTurns turns;
  turns.add("gone", 3);
  turns.reset({{"acme", 7}, {"other", 2}});
  EXPECT_EQ(turns.remaining(), 9u);
  EXPECT_EQ(turns.next(), "acme");
  turns.end_turn("gone", 3, true);
  EXPECT_EQ(turns.remaining(), 9u);
}

TEST(FanoutTurns, StepsFollowTheSpeedOfTheStoreWithinBounds) {
  EXPECT_EQ(next_fanout_step(200, Micros{10'000}), 200u);
  EXPECT_EQ(next_fanout_step(200, Micros{1'000}), 400u);
  EXPECT_EQ(next_fanout_step(400, Micros{1'000}), fanout_step_max);
  EXPECT_EQ(next_fanout_step(400, Micros{30'000}), 200u);
  EXPECT_EQ(next_fanout_step(120, Micros{30'000}), fanout_step_min);
}

TEST(FanoutTurns, RefusesWhenATenantOrTheServerHasTooMuchLeft) {
  const FanoutBacklogLimits limits{.tenant_max = 10, .total_max = 15};
  FanoutTurns turns;
  turns.add("acme", 9);
  EXPECT_EQ(turns.admit("acme", limits), FanoutAdmission::accepted);
  turns.add("acme", 5);
  EXPECT_EQ(turns.admit("acme", limits), FanoutAdmission::tenant_full);
  EXPECT_EQ(turns.admit("other", limits), FanoutAdmission::accepted);
  turns.add("other", 1);
  EXPECT_EQ(turns.admit("third", limits), FanoutAdmission::server_full);
  turns.end_turn("acme", 14, true);
  EXPECT_EQ(turns.admit("acme", limits), FanoutAdmission::accepted);
}

}  // namespace
}  // namespace postrider
