#include "engine/shard/lane_standing.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};
constexpr std::uint32_t max = 100;

void answer(LaneStanding& lane, Micros took) { lane.on_ended({.began = start}, start + took, max); }
void hang(LaneStanding& lane) { lane.on_ended({.began = start, .hung = true}, start + 30s, max); }

TEST(LaneStanding, ANewWebhookIsUnknownAndNotLimited) {
  const LaneStanding lane;
  EXPECT_EQ(lane.standing(), Standing::unknown);
  EXPECT_EQ(lane.in_flight_max(1'000), 1'000u);
  EXPECT_EQ(lane.rank(0), SlotRank::unknown);
  EXPECT_EQ(lane.rank(1), SlotRank::further);
}

TEST(LaneStanding, AQuickAnswerProvesItAndASlowOneMakesItSuspect) {
  LaneStanding lane;
  answer(lane, 100ms);
  EXPECT_EQ(lane.rank(0), SlotRank::idle);
  EXPECT_EQ(lane.rank(3), SlotRank::proven);
  answer(lane, 3s);
  EXPECT_EQ(lane.rank(0), SlotRank::suspect);
  EXPECT_EQ(lane.in_flight_max(max), max) << "it answered";
  answer(lane, 100ms);
  EXPECT_EQ(lane.rank(0), SlotRank::idle);
}

TEST(LaneStanding, EveryHangHalvesAndEveryAnswerAddsOne) {
  LaneStanding lane;
  for (const std::uint32_t limit : {50u, 25u, 12u, 6u, 3u, 1u, 1u}) {
    hang(lane);
    EXPECT_EQ(lane.in_flight_max(max), limit);
  }
  EXPECT_EQ(lane.rank(0), SlotRank::suspect);
  for (std::uint32_t limit = 2; limit <= max; ++limit) {
    answer(lane, 1ms);
    EXPECT_EQ(lane.in_flight_max(max), limit);
  }
  answer(lane, 1ms);
  EXPECT_EQ(lane.in_flight_max(2 * max), 2 * max) << "the limit is gone";
}

TEST(LaneStanding, AnAttemptThatHangsRightNowCountsOnce) {
  LaneStanding lane;
  lane.on_slow(start, max);
  EXPECT_EQ(lane.rank(1), SlotRank::suspect);
  EXPECT_EQ(lane.in_flight_max(max), 50u);
  lane.on_ended({.began = start, .hung = true, .was_slow = true}, start + 30s, max);
  EXPECT_EQ(lane.in_flight_max(max), 50u);
}

TEST(LaneStanding, ASlowAttemptIsNoEvidenceWhileTheReceiverAnswersOthers) {
  LaneStanding lane;
  answer(lane, 1s);
  lane.on_slow(start, max);
  EXPECT_EQ(lane.standing(), Standing::proven);
  EXPECT_EQ(lane.in_flight_max(max), max);
  lane.on_slow(start + 2s, max);
  EXPECT_EQ(lane.standing(), Standing::suspect);
}

TEST(LaneStanding, IsRestoredFromTheLastAttempt) {
  LaneStanding lane;
  lane.restore(10ms);
  EXPECT_EQ(lane.standing(), Standing::proven);
  lane.restore(30s);
  EXPECT_EQ(lane.standing(), Standing::suspect);
}

}  // namespace
}  // namespace postrider
