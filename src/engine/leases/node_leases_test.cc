#include "engine/leases/node_leases.h"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/overloaded.h"
#include "engine/leases/cluster_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::Cluster;
using test::node_id;
using Lines = std::vector<std::string>;

/// "0-3,7": consecutive numbers are one range.
std::string ranges(const std::vector<ShardNumber>& shards) {
  std::string text;
  for (std::size_t first = 0; first < shards.size();) {
    std::size_t last = first;
    while (last + 1 < shards.size() && shards[last + 1] == shards[last] + 1) {
      ++last;
    }
    text += text.empty() ? "" : ",";
    text += first == last ? fmt::format("{}", shards[first])
                          : fmt::format("{}-{}", shards[first], shards[last]);
    first = last + 1;
  }
  return text;
}

std::string text_of(const LeaseTurn& turn) {
  std::string text = turn.leaving ? "leaving turn" : "turn";
  std::map<Epoch, std::vector<ShardNumber>> released;
  for (const ShardEpoch& release : turn.release) {
    released[release.epoch].push_back(release.shard);
  }
  for (const auto& [epoch, shards] : released) {
    text += fmt::format(" -{}/{}", ranges(shards), epoch);
  }
  return turn.take.empty() ? text : text + " +" + ranges(turn.take);
}

/// One line per command, but one for all shards that are lost or acquired in the same way.
Lines lines_of(const LeaseCommands& commands) {
  std::map<std::string, std::vector<ShardNumber>> shards;
  Lines others;
  for (const LeaseCommand& command : commands) {
    std::visit(
        Overloaded{
            [&](const ShardLost& lost) {
              shards[fmt::format("lost {{}}/{}{}", lost.epoch, lost.at_once ? " at once" : "")]
                  .push_back(lost.shard);
            },
            [&](const ShardAcquired& acquired) {
              shards[fmt::format("acquired {{}}/{}", acquired.epoch)].push_back(acquired.shard);
            },
            [&](const RunTurn& run) { others.push_back(text_of(run.turn)); },
            [&](const SetAlarm& alarm) {
              const Micros at = alarm.at.time_since_epoch();
              others.push_back(fmt::format("alarm {}", at / Millis{1}));
            },
            [&](const LeavePool&) { others.emplace_back("leave"); }},
        command);
  }
  Lines lines;
  for (const auto& [line, numbers] : shards) {
    lines.push_back(fmt::format(fmt::runtime(line), ranges(numbers)));
  }
  lines.insert(lines.end(), others.begin(), others.end());
  return lines;
}

/// Node 1. Leases last 25 seconds. They end here after 12 seconds, and turns are 5 seconds apart.
class NodeLeasesTest : public testing::Test {
 protected:
  NodeLeasesTest() { cluster_.add(1); }

  Lines step(const LeaseInput& input) { return lines_of(leases_.step(input, now_)); }
  Lines answer(Millis at) {
    now_ = MonoTime{at};
    return step(TurnAnswered{cluster_.view()});
  }
  Lines fail(Millis at) {
    now_ = MonoTime{at};
    return step(TurnFailed{});
  }
  Lines ring(Millis at) {
    now_ = MonoTime{at};
    return step(AlarmRang{});
  }
  Lines hand_back(int first, int last) {
    Lines lines;
    for (int shard = first; shard <= last; ++shard) {
      const Lines more = step(ShardHandedBack{.shard = static_cast<ShardNumber>(shard)});
      lines.insert(lines.end(), more.begin(), more.end());
    }
    return lines;
  }
  [[nodiscard]] bool may_send(int shard) const {
    return leases_.may_send(static_cast<ShardNumber>(shard), now_);
  }
  void free(int first, int last) {
    for (int shard = first; shard <= last; ++shard) {
      cluster_.lease(shard).owner.reset();
    }
  }

  /// Node 1 holds shards 0 to 127 and node 2 the others. The next turn starts at 5000.
  void start_with_two() {
    cluster_.add(2);
    cluster_.give(1, 0, 128);
    cluster_.give(2, 128, 128);
    EXPECT_EQ(ring(0ms), Lines{"turn"});
    EXPECT_EQ(answer(10ms), (Lines{"acquired 0-127/1", "alarm 5000"}));
  }

  Cluster cluster_;
  NodeLeases leases_{
      {.node = node_id(1), .pool = "", .length = Millis{25'000}, .margin = Millis{13'000}}};
  MonoTime now_{};
};

TEST_F(NodeLeasesTest, TheFirstTurnLooksAndTheSecondTakes) {
  EXPECT_EQ(ring(7ms), Lines{"turn"});
  EXPECT_EQ(answer(37ms), Lines{"alarm 207"});
  EXPECT_EQ(ring(206ms), Lines{"alarm 207"});
  EXPECT_EQ(ring(207ms), Lines{"turn +0-255"});
  EXPECT_FALSE(may_send(0));
  cluster_.give(1, 0, 256);
  EXPECT_EQ(answer(250ms), (Lines{"acquired 0-255/1", "alarm 5207"}));
  EXPECT_TRUE(may_send(0));
  EXPECT_TRUE(may_send(255));
  EXPECT_EQ(ring(5'207ms), (Lines{"turn", "alarm 12207"}));
}

TEST_F(NodeLeasesTest, ANodeHasJoinedWhenNothingIsLeftToTake) {
  ring(0ms);
  EXPECT_FALSE(leases_.has_joined());
  answer(10ms);
  ring(200ms);
  EXPECT_FALSE(leases_.has_joined());
  cluster_.give(1, 0, 256);
  answer(210ms);
  EXPECT_TRUE(leases_.has_joined());
}

TEST_F(NodeLeasesTest, ANewNodeHasJoinedWhileOthersStillHoldItsShare) {
  cluster_.add(2);
  cluster_.node(1).age = 0ms;
  cluster_.give(2, 0, 256);
  ring(0ms);
  answer(10ms);
  EXPECT_TRUE(leases_.has_joined());
}

TEST_F(NodeLeasesTest, OnlyTheSharesOfTheNodesThatAreLiveAreTaken) {
  ring(0ms);
  cluster_.add(2);
  answer(10ms);
  const Lines second = ring(200ms);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(second.front().starts_with("turn +0,2,4,6,8,")) << second.front();
  EXPECT_TRUE(second.front().ends_with(",252,254")) << second.front();
}

TEST_F(NodeLeasesTest, ALeaseCountsFromTheMomentTheRequestWasSent) {
  start_with_two();
  EXPECT_EQ(leases_.held_until(), MonoTime{12'000ms});
  ring(5'000ms);
  EXPECT_EQ(answer(9'000ms), Lines{"alarm 10000"});
  EXPECT_EQ(leases_.held_until(), MonoTime{17'000ms});
}

TEST_F(NodeLeasesTest, EverythingIsLostInTimeIfNoAnswerComes) {
  start_with_two();
  EXPECT_EQ(ring(5'000ms), (Lines{"turn", "alarm 12000"}));
  EXPECT_EQ(ring(11'999ms), Lines{"alarm 12000"});
  EXPECT_TRUE(may_send(0));
  EXPECT_EQ(ring(12'000ms), Lines{"lost 0-127/1 at once"});
  EXPECT_FALSE(may_send(0));
  EXPECT_EQ(ring(12'001ms), Lines{});
}

TEST_F(NodeLeasesTest, AfterAPauseEverythingIsLostBeforeAnythingIsSent) {
  start_with_two();
  now_ = MonoTime{11'999ms};
  EXPECT_TRUE(may_send(0));
  now_ = MonoTime{12'000ms};
  EXPECT_FALSE(may_send(0));
  EXPECT_EQ(ring(60'000ms), (Lines{"lost 0-127/1 at once", "turn"}));
}

TEST_F(NodeLeasesTest, AfterAPauseTheAnswerOfAnOldTurnGivesNothingBack) {
  start_with_two();
  ring(5'000ms);
  EXPECT_EQ(answer(60'000ms), (Lines{"lost 0-127/1 at once", "turn"}));
  EXPECT_FALSE(may_send(0));
}

TEST_F(NodeLeasesTest, AnAnswerThatComesAfterTheLeaseHasEndedGivesNothing) {
  cluster_.give(1, 0, 256);
  ring(0ms);
  EXPECT_EQ(answer(12'000ms), Lines{"turn"});
  EXPECT_FALSE(may_send(0));
  EXPECT_EQ(answer(23'999ms), (Lines{"acquired 0-255/1", "turn", "alarm 24000"}));
  EXPECT_TRUE(may_send(0));
}

TEST_F(NodeLeasesTest, AFailedTurnIsRepeatedSoon) {
  start_with_two();
  ring(5'000ms);
  EXPECT_EQ(fail(5'100ms), Lines{"alarm 6000"});
  EXPECT_EQ(ring(6'000ms), (Lines{"turn", "alarm 12000"}));
  EXPECT_EQ(fail(9'500ms), Lines{"turn"});
  EXPECT_EQ(answer(9'600ms), Lines{"alarm 14500"});
  EXPECT_EQ(leases_.held_until(), MonoTime{21'500ms});
  EXPECT_TRUE(may_send(127));
}

TEST_F(NodeLeasesTest, ALostShardIsReleasedAndTakenAgain) {
  start_with_two();
  ring(5'000ms);
  ring(12'000ms);
  EXPECT_EQ(fail(12'100ms), Lines{"turn"});
  EXPECT_EQ(answer(12'200ms), Lines{"alarm 17100"});  // Not handed back.
  EXPECT_FALSE(may_send(0));
  EXPECT_EQ(hand_back(0, 127), Lines{"alarm 12300"});
  EXPECT_EQ(ring(12'300ms), Lines{"turn -0-127/1"});
  free(0, 127);
  EXPECT_EQ(answer(12'310ms), Lines{"alarm 12500"});
  EXPECT_EQ(ring(12'500ms), Lines{"turn +0-127"});
  for (int shard = 0; shard < 128; ++shard) {
    cluster_.lease(shard) = {.owner = node_id(1), .epoch = 2};
  }
  EXPECT_EQ(answer(12'510ms), (Lines{"acquired 0-127/2", "alarm 17500"}));
  EXPECT_TRUE(may_send(0));
}

TEST_F(NodeLeasesTest, AShardThatAnotherNodeHasTakenIsLostAtOnce) {
  start_with_two();
  cluster_.give(2, 0, 1);
  ring(5'000ms);
  EXPECT_EQ(answer(5'010ms), (Lines{"lost 0/1 at once", "alarm 5200"}));
  EXPECT_FALSE(may_send(0));
  EXPECT_TRUE(may_send(1));
  EXPECT_EQ(ring(5'200ms), (Lines{"turn +255", "alarm 17000"}));
}

TEST_F(NodeLeasesTest, ALeaseThatHasExpiredInTheDatabaseIsTakenAnew) {
  start_with_two();
  cluster_.lease(3).expired = true;
  ring(5'000ms);
  EXPECT_EQ(answer(5'010ms), (Lines{"lost 3/1 at once", "alarm 10000"}));
  EXPECT_EQ(hand_back(3, 3), Lines{"alarm 5200"});
  EXPECT_EQ(ring(5'200ms), (Lines{"turn -3/1", "alarm 17000"}));
  EXPECT_EQ(answer(5'210ms), Lines{"alarm 5400"});
  EXPECT_EQ(ring(5'400ms), (Lines{"turn +3", "alarm 17200"}));
  cluster_.lease(3) = {.owner = node_id(1), .epoch = 2};
  EXPECT_EQ(answer(5'410ms), (Lines{"acquired 3/2", "alarm 10400"}));
}

TEST_F(NodeLeasesTest, ATurnThatWasTakenWithoutAnAnswerGivesItsShardsLater) {
  ring(0ms);
  answer(10ms);
  EXPECT_EQ(ring(200ms), Lines{"turn +0-255"});
  EXPECT_EQ(fail(5'200ms), Lines{"turn"});
  cluster_.give(1, 0, 256);
  EXPECT_EQ(answer(5'210ms).front(), "acquired 0-255/1");
}

// ---------------------------------------------------------------- other nodes come and go

TEST_F(NodeLeasesTest, ANodeThatJoinsGetsItsShareInTwoSteps) {
  start_with_two();
  cluster_.add(3);
  ring(5'000ms);
  EXPECT_EQ(answer(5'010ms), (Lines{"lost 86-127/1", "alarm 10000"}));
  EXPECT_TRUE(may_send(85));
  EXPECT_TRUE(may_send(86)) << "it is worked until it is handed back";

  now_ = MonoTime{6'000ms};
  EXPECT_EQ(hand_back(86, 86), (Lines{"turn -86/1", "alarm 17000"}));
  EXPECT_FALSE(may_send(86));
  EXPECT_EQ(hand_back(87, 100), Lines{});
  free(86, 86);
  EXPECT_EQ(answer(6'010ms), Lines{"alarm 6200"});
  EXPECT_EQ(ring(6'200ms), (Lines{"turn -87-100/1", "alarm 18000"}));
  free(87, 100);
  EXPECT_EQ(answer(6'210ms), Lines{"alarm 11200"});
}

TEST_F(NodeLeasesTest, AReleaseIsRepeatedUntilItIsSeenAndTheShardIsNotHeldMeanwhile) {
  start_with_two();
  cluster_.add(3);
  ring(5'000ms);
  answer(5'010ms);
  hand_back(86, 127);
  EXPECT_EQ(ring(5'200ms), (Lines{"turn -86-127/1", "alarm 17000"}));
  cluster_.remove(3);
  cluster_.remove(2);
  // The request may still arrive. So the shards are not held with their old epoch.
  EXPECT_EQ(fail(6'000ms), Lines{"alarm 6200"});
  EXPECT_EQ(ring(6'200ms), (Lines{"turn -86-127/1", "alarm 17000"}));
  for (int shard = 128; shard < 256; ++shard) {
    cluster_.lease(shard).expired = true;
  }
  EXPECT_EQ(answer(6'210ms), Lines{"alarm 6400"});
  EXPECT_EQ(ring(6'400ms), (Lines{"turn -86-127/1 +128-255", "alarm 18200"}));
  free(86, 127);
  EXPECT_EQ(answer(6'410ms), Lines{"alarm 6600"});
  EXPECT_EQ(ring(6'600ms), (Lines{"turn +86-255", "alarm 18400"}));
}

TEST_F(NodeLeasesTest, AShardThatWasTakenByALateTurnIsHeldWithItsNewEpoch) {
  start_with_two();
  cluster_.lease(3).epoch = 2;
  cluster_.add(3);
  ring(5'000ms);
  EXPECT_EQ(answer(5'010ms), (Lines{"lost 86-127/1", "lost 3/1 at once", "alarm 10000"}));
  hand_back(3, 3);
  hand_back(86, 127);
  EXPECT_EQ(ring(5'200ms), (Lines{"turn -3,86-127/1", "alarm 17000"}));
  cluster_.remove(3);
  for (int shard = 86; shard < 128; ++shard) {
    cluster_.lease(shard).epoch = 2;
  }
  EXPECT_EQ(answer(5'210ms), (Lines{"acquired 3,86-127/2", "alarm 10200"}));
}

TEST_F(NodeLeasesTest, AShardThatIsWantedAgainIsReleasedAndTakenAgain) {
  start_with_two();
  cluster_.add(3);
  ring(5'000ms);
  answer(5'010ms);
  cluster_.remove(3);
  ring(10'000ms);
  EXPECT_EQ(answer(10'010ms), Lines{"alarm 15000"});
  hand_back(86, 127);
  EXPECT_EQ(ring(10'200ms), (Lines{"turn -86-127/1", "alarm 22000"}));
  free(86, 127);
  EXPECT_EQ(answer(10'210ms), Lines{"alarm 10400"});
  EXPECT_EQ(ring(10'400ms), (Lines{"turn +86-127", "alarm 22200"}));
}

TEST_F(NodeLeasesTest, AShardThatIsNotHandedBackBeforeTheLeaseEndsIsLostAtOnce) {
  start_with_two();
  cluster_.add(3);
  ring(5'000ms);
  answer(5'010ms);
  hand_back(87, 127);
  EXPECT_EQ(ring(5'200ms), (Lines{"turn -87-127/1", "alarm 17000"}));
  EXPECT_EQ(ring(17'000ms), Lines{"lost 0-86/1 at once"});
}

TEST_F(NodeLeasesTest, ANewNodeLooksForItsShareOftenAndThenLessOften) {
  cluster_.add(2);
  cluster_.give(2, 0, 256);
  cluster_.node(1).age = 0ms;
  ring(0ms);
  EXPECT_EQ(answer(0ms), Lines{"alarm 200"});
  EXPECT_EQ(ring(200ms), Lines{"turn"});
  cluster_.node(1).age = 2'499ms;
  EXPECT_EQ(answer(2'400ms), Lines{"turn"});
  EXPECT_EQ(answer(2'400ms), Lines{"alarm 2700"});  // An eighth of the time without a change.
  EXPECT_EQ(ring(2'700ms), Lines{"turn"});
  cluster_.node(1).age = 2'500ms;
  EXPECT_EQ(answer(2'700ms), Lines{"alarm 3037"});
  EXPECT_EQ(ring(3'038ms), Lines{"turn +128-255"});
  free(128, 128);
  EXPECT_EQ(answer(3'038ms), Lines{"alarm 3238"});
  EXPECT_EQ(ring(3'238ms), Lines{"turn +128-255"});
  EXPECT_EQ(answer(90'000ms), Lines{"turn +128-255"});
  EXPECT_EQ(answer(90'000ms), Lines{"alarm 95000"});
}

TEST_F(NodeLeasesTest, ATurnFollowsWhenTheLeasesOfACrashedNodeExpire) {
  start_with_two();
  cluster_.node(2).left = 3'000ms;
  ring(5'000ms);
  EXPECT_EQ(answer(5'100ms), Lines{"alarm 8200"});
  cluster_.remove(2);
  for (int shard = 128; shard < 256; ++shard) {
    cluster_.lease(shard).expired = true;
  }
  ring(8'200ms);
  EXPECT_EQ(answer(8'300ms), Lines{"alarm 8400"});
  EXPECT_EQ(ring(8'400ms), (Lines{"turn +128-255", "alarm 20200"}));
}

// ---------------------------------------------------------------- leaving

TEST_F(NodeLeasesTest, ALeavingNodeWorksUntilTheOthersKnowAndThenHandsOver) {
  start_with_two();
  now_ = MonoTime{1'000ms};
  EXPECT_EQ(step(LeaveRequested{}), (Lines{"leaving turn", "alarm 12000"}));
  EXPECT_EQ(step(LeaveRequested{}), Lines{});
  cluster_.node(1).leaving = true;
  EXPECT_EQ(answer(1'010ms), Lines{"alarm 1200"});
  EXPECT_TRUE(may_send(0));
  EXPECT_EQ(ring(1'200ms), (Lines{"leaving turn", "alarm 13000"}));
  ++cluster_.node(2).turns;
  EXPECT_EQ(answer(1'210ms), (Lines{"lost 0-127/1", "alarm 1400"}));
  EXPECT_TRUE(may_send(0));
  EXPECT_EQ(hand_back(0, 126), Lines{});
  EXPECT_FALSE(may_send(0));
  EXPECT_EQ(ring(1'400ms), (Lines{"leaving turn -0-126/1", "alarm 13200"}));
  EXPECT_EQ(hand_back(127, 127), Lines{});
  free(0, 126);
  EXPECT_EQ(answer(1'410ms), Lines{"leave"});
  EXPECT_EQ(ring(60'000ms), Lines{});
}

TEST_F(NodeLeasesTest, ALeavingNodeDoesNotWaitForeverForTheOthers) {
  start_with_two();
  now_ = MonoTime{1'000ms};
  step(LeaveRequested{});
  answer(1'010ms);
  ring(1'200ms);
  answer(6'000ms);
  answer(6'010ms);
  EXPECT_EQ(ring(6'625ms), (Lines{"leaving turn", "alarm 13510"}));
  EXPECT_EQ(ring(13'510ms), (Lines{"lost 0-127/1", "alarm 18000"}));
}

TEST_F(NodeLeasesTest, ALeavingNodeDoesNotWaitForNodesThatLeaveOrBelongToOtherPools) {
  start_with_two();
  cluster_.node(2).leaving = true;
  cluster_.add(3, "other");
  now_ = MonoTime{1'000ms};
  step(LeaveRequested{});
  EXPECT_EQ(answer(1'010ms), (Lines{"lost 0-127/1", "alarm 1200"}));
}

TEST_F(NodeLeasesTest, ALeavingNodeWhoseRunningTurnWasNoAnnouncementAnnouncesItNext) {
  start_with_two();
  cluster_.remove(2);
  ring(5'000ms);
  EXPECT_EQ(step(LeaveRequested{}), Lines{});
  EXPECT_EQ(answer(5'010ms), Lines{"alarm 5200"});
  EXPECT_TRUE(may_send(0));
  EXPECT_EQ(ring(5'200ms), (Lines{"leaving turn", "alarm 17000"}));
  EXPECT_EQ(answer(5'210ms).front(), "lost 0-127/1");
}

TEST_F(NodeLeasesTest, ALeavingNodeWithoutTheDatabaseStopsWhenItsLeaseEnds) {
  start_with_two();
  now_ = MonoTime{1'000ms};
  step(LeaveRequested{});
  EXPECT_EQ(fail(6'000ms), (Lines{"leaving turn"}));
  EXPECT_EQ(fail(11'000ms), (Lines{"leaving turn"}));
  EXPECT_EQ(ring(12'000ms), Lines{"lost 0-127/1 at once"});
  EXPECT_EQ(hand_back(0, 127), Lines{});
  EXPECT_EQ(fail(16'000ms), Lines{"leave"});
}

TEST_F(NodeLeasesTest, ANodeWithoutShardsLeavesAtOnce) {
  EXPECT_EQ(step(LeaveRequested{}), Lines{"leave"});
}

TEST_F(NodeLeasesTest, ALeavingNodeReleasesShardsThatItDidNotKnowOf) {
  start_with_two();
  cluster_.give(1, 200, 1);
  now_ = MonoTime{1'000ms};
  step(LeaveRequested{});
  EXPECT_EQ(answer(1'010ms), Lines{"alarm 1200"});
  EXPECT_EQ(ring(1'200ms), (Lines{"leaving turn -200/2", "alarm 13000"}));
}

}  // namespace
}  // namespace postrider
