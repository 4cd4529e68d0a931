#include "engine/shard/hosts.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(Hosts, KeepAnIndexUntilTheLastUserLeaves) {
  Hosts hosts;
  const HostIndex one = hosts.join("one.example");
  EXPECT_EQ(hosts.join("one.example"), one);
  const HostIndex two = hosts.join("two.example");
  EXPECT_NE(one, two);
  hosts.leave(one);
  ASSERT_NE(hosts.find("one.example"), nullptr);
  EXPECT_EQ(hosts.users(one), 1u);
  hosts.leave(one);
  EXPECT_EQ(hosts.find("one.example"), nullptr);
  EXPECT_EQ(hosts.join("three.example"), one) << "the index is reused";
  EXPECT_EQ(hosts.name(one), "three.example");
}

TEST(Hosts, TheLaneThatWaitsLongestIsNext) {
  Hosts hosts;
  const HostIndex host = hosts.join("one.example");
  for (const LaneIndex lane : {4, 2, 7}) {
    hosts.wait(host, lane, Priority::normal);
  }
  hosts.wait(host, 4, Priority::normal);  // Keeps its place.
  EXPECT_TRUE(hosts.comes_later(host, 9));
  EXPECT_EQ(hosts.give_turn(host), 4u);
  EXPECT_FALSE(hosts.waits(4));
  EXPECT_FALSE(hosts.comes_later(host, 4)) << "it is its turn";
  hosts.wait(host, 4, Priority::normal);  // Refused after all.
  EXPECT_EQ(hosts.give_turn(host), 4u);
  hosts.stop_waiting(4);
  EXPECT_TRUE(hosts.comes_later(host, 4)) << "the turn is used up";
  hosts.wait(host, 4, Priority::normal);
  EXPECT_EQ(hosts.give_turn(host), 2u);
  hosts.stop_waiting(7);
  EXPECT_EQ(hosts.give_turn(host), 4u);
  EXPECT_FALSE(hosts.has_waiters(host));
}

TEST(Hosts, PrioritiesShareAHostAndNoneStarves) {
  Hosts hosts;
  const HostIndex host = hosts.join("one.example");
  std::array<int, priority_count> turns{};
  for (LaneIndex lane = 0; lane < priority_count; ++lane) {
    hosts.wait(host, lane, static_cast<Priority>(lane));
  }
  for (int i = 0; i < 13; ++i) {
    const LaneIndex lane = hosts.give_turn(host);
    ++turns[lane];
    hosts.stop_waiting(lane);
    hosts.wait(host, lane, static_cast<Priority>(lane));
  }
  EXPECT_EQ(turns, (std::array{8, 4, 1}));
}

TEST(Hosts, AMoreUrgentDeliveryMovesALaneUp) {
  Hosts hosts;
  const HostIndex host = hosts.join("one.example");
  hosts.wait(host, 0, Priority::normal);
  hosts.wait(host, 1, Priority::low);
  hosts.wait(host, 1, Priority::high);
  EXPECT_EQ(hosts.give_turn(host), 1u);
  EXPECT_EQ(hosts.give_turn(host), 0u);
}

}  // namespace
}  // namespace postrider
