#include "engine/admin/fair_queue.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

const ShareOwner boss{};
const ShareOwner greedy{ShareKind::tenant, "greedy"};
const ShareOwner modest{ShareKind::tenant, "modest"};

int next(FairQueue<int>& queue) {
  const auto turn = queue.start();
  return turn ? turn->job : -1;
}

TEST(FairQueue, OwnersTakeTurns) {
  FairQueue<int> queue{share_rules(3)};
  for (int job = 1; job <= 5; ++job) {
    queue.push(greedy, job);
  }
  queue.push(modest, 100);
  EXPECT_EQ(next(queue), 1);
  EXPECT_EQ(next(queue), 100);
  EXPECT_EQ(next(queue), -1) << "the third place is the operator's, and each has one";
  queue.end(modest);
  EXPECT_EQ(next(queue), -1) << "one owner holds only its part";
  queue.end(greedy);
  EXPECT_EQ(next(queue), 2);
}

TEST(FairQueue, TheOperatorAlwaysFindsAPlace) {
  FairQueue<int> queue{share_rules(3)};
  queue.push(greedy, 1);
  queue.push(modest, 2);
  queue.push({ShareKind::tenant, "third"}, 3);
  queue.push(boss, 4);
  EXPECT_EQ(next(queue), 1);
  EXPECT_EQ(next(queue), 2);
  EXPECT_EQ(next(queue), 4);
  EXPECT_EQ(next(queue), -1);
  queue.end(greedy);
  EXPECT_EQ(next(queue), 3);
  EXPECT_TRUE(queue.empty());
}

TEST(FairQueue, WithASinglePlaceEverybodyWaits) {
  FairQueue<int> queue{share_rules(1)};
  queue.push(greedy, 1);
  queue.push(greedy, 2);
  queue.push(modest, 3);
  EXPECT_EQ(next(queue), 1);
  EXPECT_EQ(next(queue), -1);
  queue.end(greedy);
  EXPECT_EQ(next(queue), 3);
  queue.end(modest);
  EXPECT_EQ(next(queue), 2);
  EXPECT_TRUE(queue.empty());
}

TEST(FairQueue, JobsOfOneOwnerKeepTheirOrder) {
  FairQueue<int> queue{share_rules(8)};
  for (int job = 0; job < 8; ++job) {
    queue.push(boss, job);
  }
  for (int job = 0; job < 8; ++job) {
    EXPECT_EQ(next(queue), job);
  }
}

}  // namespace
}  // namespace postrider
