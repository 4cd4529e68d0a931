#include "engine/shard/fair_share.h"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

namespace postrider {
namespace {

ReadyPriorities ready(std::initializer_list<Priority> priorities) {
  ReadyPriorities result;
  for (const Priority priority : priorities) {
    result.all.set(static_cast<std::size_t>(priority));
    result.first_attempts.set(static_cast<std::size_t>(priority));
  }
  return result;
}

ReadyPriorities only_retries(Priority priority) {
  ReadyPriorities result;
  result.all.set(static_cast<std::size_t>(priority));
  return result;
}

Turn take(FairShare& share, SlotRank widest = widest_rank) {
  const Turn turn = share.next(widest).value();
  share.take(turn, widest);
  return turn;
}

std::array<int, priority_count> priorities_of(FairShare& share, int picks) {
  std::array<int, priority_count> counts{};
  for (int i = 0; i < picks; ++i) {
    ++counts[static_cast<std::size_t>(take(share).priority)];
  }
  return counts;
}

TEST(FairShare, SaturatedPrioritiesShareEightToFourToOne) {
  FairShare share;
  for (LaneIndex lane = 0; lane < 3; ++lane) {
    share.add(lane, lane);
    share.set_ready(lane, ready({static_cast<Priority>(lane)}));
  }
  EXPECT_EQ(priorities_of(share, 1'300), (std::array{800, 400, 100}));
}

TEST(FairShare, PrioritiesShareWithinOneLane) {
  FairShare share;
  share.add(0, 0);
  share.set_ready(0, ready({Priority::high, Priority::normal, Priority::low}));
  EXPECT_EQ(priorities_of(share, 1'300), (std::array{800, 400, 100}));
}

TEST(FairShare, LowPriorityIsServedWithinThirteenTurns) {
  FairShare share;
  share.add(0, 0);
  share.set_ready(0, ready({Priority::high, Priority::normal, Priority::low}));
  int since_low = 0;
  for (int i = 0; i < 1'000; ++i) {
    since_low = take(share).priority == Priority::low ? 0 : since_low + 1;
    ASSERT_LT(since_low, 13);
  }
}

TEST(FairShare, AnIdlePriorityLeavesItsShareToTheOthers) {
  FairShare share;
  share.add(0, 0);
  share.set_ready(0, ready({Priority::high, Priority::low}));
  EXPECT_EQ(priorities_of(share, 900), (std::array{800, 0, 100}));
  share.set_ready(0, ready({Priority::low}));
  EXPECT_EQ(priorities_of(share, 10), (std::array{0, 0, 10}));
}

TEST(FairShare, TenantsTakeTurnsRegardlessOfTheirLaneCount) {
  FairShare share;
  for (LaneIndex lane = 0; lane < 101; ++lane) {
    share.add(lane, lane < 100 ? 0 : 1);
    share.set_ready(lane, ready({Priority::normal}));
  }
  std::array<int, 2> turns{};
  for (int i = 0; i < 1'000; ++i) {
    ++turns[take(share).tenant];
  }
  EXPECT_EQ(turns, (std::array{500, 500}));
}

TEST(FairShare, TheLanesOfATenantTakeTurns) {
  FairShare share;
  for (LaneIndex lane = 0; lane < 4; ++lane) {
    share.add(lane, 0);
    share.set_ready(lane, ready({Priority::normal}));
  }
  std::map<LaneIndex, int> turns;
  for (int i = 0; i < 400; ++i) {
    ++turns[take(share).lane];
  }
  EXPECT_EQ(turns, (std::map<LaneIndex, int>{{0, 100}, {1, 100}, {2, 100}, {3, 100}}));
}

TEST(FairShare, NextDoesNotUseUpATurn) {
  FairShare share;
  for (LaneIndex lane = 0; lane < 2; ++lane) {
    share.add(lane, lane);
    share.set_ready(lane, ready({Priority::normal}));
  }
  const std::optional<Turn> first = share.next(widest_rank);
  EXPECT_EQ(share.next(widest_rank), first);
  share.take(*first, widest_rank);
  EXPECT_NE(share.next(widest_rank), first);
}

TEST(FairShare, AParkedTenantIsSkippedUntilItIsUnparked) {
  FairShare share;
  for (LaneIndex lane = 0; lane < 2; ++lane) {
    share.add(lane, lane);
    share.set_ready(lane, ready({Priority::normal}));
  }
  share.park(0);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(take(share).lane, 1u);
  }
  share.set_ready(1, {});
  EXPECT_EQ(share.next(widest_rank), std::nullopt);
  share.unpark(0);
  EXPECT_EQ(take(share).lane, 0u);
}

TEST(FairShare, ALaneThatBecomesReadyWhileItsTenantIsParkedWaits) {
  FairShare share;
  share.add(0, 0);
  share.park(0);
  share.set_ready(0, ready({Priority::high}));
  EXPECT_EQ(share.next(widest_rank), std::nullopt);
  share.unpark(0);
  EXPECT_EQ(take(share).lane, 0u);
}

TEST(FairShare, SkipsRetriesIfOnlyFirstAttemptsMayStart) {
  FairShare share;
  share.add(0, 0);
  share.add(1, 0);
  share.set_ready(0, only_retries(Priority::high));
  share.set_ready(1, ready({Priority::low}));
  EXPECT_EQ(share.next(SlotRank::unknown)->lane, 1u);
  EXPECT_EQ(share.next(widest_rank)->lane, 0u);
  share.set_ready(1, {});
  EXPECT_EQ(share.next(SlotRank::unknown), std::nullopt);
}

TEST(FairShare, ARemovedLaneIsNotChosenAndItsIndexCanBeReused) {
  FairShare share;
  share.add(0, 0);
  share.set_ready(0, ready({Priority::normal}));
  share.remove(0);
  EXPECT_EQ(share.next(widest_rank), std::nullopt);
  share.add(0, 5);
  share.set_ready(0, ready({Priority::normal}));
  EXPECT_EQ(take(share), (Turn{.lane = 0, .tenant = 5, .priority = Priority::normal}));
}

/// The list changes of a thousand deliveries, each of which leaves its lane idle for a moment.
std::uint64_t relinks(LaneIndex lanes) {
  FairShare share;
  for (LaneIndex lane = 0; lane < lanes; ++lane) {
    share.add(lane, lane / 10);
    share.set_ready(lane, ready({Priority::normal}));
  }
  const std::uint64_t before = share.relinks_total();
  for (int i = 0; i < 1'000; ++i) {
    const Turn turn = take(share);
    share.set_ready(turn.lane, {});
    share.set_ready(turn.lane, ready({Priority::normal}));
  }
  return share.relinks_total() - before;
}

TEST(FairShare, CostPerTurnDoesNotDependOnTheLaneCount) {
  EXPECT_EQ(relinks(10), 12'000u);
  EXPECT_EQ(relinks(10'000), 12'000u);
}

TEST(FairShare, ChoosesOnlyAmongLanesWithEnoughRightToASlot) {
  FairShare share;
  constexpr std::array ranks{SlotRank::suspect, SlotRank::further, SlotRank::unknown,
                             SlotRank::proven, SlotRank::idle};
  for (LaneIndex lane = 0; lane < ranks.size(); ++lane) {
    share.add(lane, lane);
    share.set_ready(lane, ready({Priority::normal}), ranks[lane]);
  }
  EXPECT_EQ(share.next(SlotRank::suspect)->lane, 0u);
  EXPECT_EQ(share.next(SlotRank::further)->lane, 1u);
  EXPECT_EQ(share.next(SlotRank::unknown)->lane, 2u);
  EXPECT_EQ(share.next(SlotRank::proven)->lane, 3u);
  EXPECT_EQ(share.next(SlotRank::idle)->lane, 4u);
  share.set_ready(4, ready({Priority::normal}), SlotRank::proven);
  EXPECT_EQ(share.next(SlotRank::idle), std::nullopt);
}

TEST(FairShare, ARetryHasLessRightThanAFirstAttempt) {
  FairShare share;
  share.add(0, 0);
  share.set_ready(0, only_retries(Priority::normal), SlotRank::idle);
  EXPECT_EQ(share.next(SlotRank::unknown), std::nullopt);
  EXPECT_EQ(share.next(SlotRank::retry)->lane, 0u);
}

TEST(FairShare, ATenantCanBeParkedFromARankOn) {
  FairShare share;
  for (LaneIndex lane = 0; lane < 3; ++lane) {
    share.add(lane, lane < 2 ? 0 : 1);
  }
  share.set_ready(0, ready({Priority::normal}), SlotRank::suspect);
  share.set_ready(1, ready({Priority::normal}), SlotRank::idle);
  share.set_ready(2, ready({Priority::normal}), SlotRank::suspect);
  share.park(0, SlotRank::suspect);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NE(take(share).lane, 0u) << "its other lane still takes turns with the other tenant";
  }
  const std::optional<Turn> of_parked = share.next(SlotRank::idle);
  EXPECT_EQ(of_parked, (Turn{.lane = 1, .tenant = 0, .widest = SlotRank::idle}));
  share.park(0, SlotRank::idle);
  EXPECT_EQ(share.next(SlotRank::idle), std::nullopt);
  share.set_ready(1, {});
  share.unpark(0);
  share.park(1);
  EXPECT_EQ(share.next(widest_rank)->lane, 0u);
}

}  // namespace
}  // namespace postrider
