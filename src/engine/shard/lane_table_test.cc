#include "engine/shard/lane_table.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

std::shared_ptr<const Webhook> webhook(std::uint8_t number) {
  auto made = std::make_shared<Webhook>();
  made->id = WebhookId{{number}};
  return made;
}

TEST(LaneTable, FindsALaneByWebhookAndByIndex) {
  LaneTable lanes;
  Lane& lane = lanes.add(3, webhook(1), MonoTime{});
  EXPECT_EQ(lanes.find(WebhookId{{1}}), &lane);
  EXPECT_EQ(&lanes.at(lane.index()), &lane);
  EXPECT_EQ(lane.tenant(), 3u);
  EXPECT_EQ(lanes.find(WebhookId{{2}}), nullptr);
  EXPECT_EQ(lanes.size(), 1u);
}

TEST(LaneTable, ReusesTheIndexOfARemovedLane) {
  LaneTable lanes;
  Lane& lane = lanes.add(0, webhook(1), MonoTime{});
  const LaneIndex index = lane.index();
  lanes.remove(lane);
  EXPECT_EQ(lanes.find(WebhookId{{1}}), nullptr);
  EXPECT_EQ(lanes.add(0, webhook(2), MonoTime{}).index(), index);
}

TEST(LaneTable, ListsTouchedLanesOnceInOrderOfFirstTouch) {
  LaneTable lanes;
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
    lanes.add(0, webhook(number), MonoTime{});
  }
  lanes.touch(2);
  lanes.touch(0);
  lanes.touch(2);
  EXPECT_EQ(lanes.take_touched(), (std::vector<LaneIndex>{2, 0}));
  EXPECT_TRUE(lanes.take_touched().empty());
  lanes.touch(0);
  EXPECT_EQ(lanes.take_touched(), std::vector<LaneIndex>{0});
}

}  // namespace
}  // namespace postrider
