// A part that another node will work is not kept waiting by receivers that take long.
#include "engine/shard/shard_leases_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::part;
using test::ShardLeases;

TEST_F(ShardLeases, NobodyWaitsForASlowAttemptOfALostPart) {
  acquire(1);
  const WebhookId slow = add(part);
  const WebhookId quick = add(part);
  const StartAttempt hanging = start_slow(slow);
  lose(1);
  driver_.admit(slow);
  EXPECT_TRUE(nothing_started());
  driver_.admit(quick);
  driver_.finish_and_settle(only_start(), answered(200));
  EXPECT_TRUE(has_lane(quick));
  EXPECT_EQ(handed_back(), 0u);
  driver_.finish_and_settle(hanging, answered(200));
  driver_.ring_after(100ms);
  EXPECT_EQ(handed_back(), 1u);
  EXPECT_FALSE(has_lane(quick));
}

TEST_F(ShardLeases, AWebhookThatOftenHangsIsStoppedFirst) {
  acquire(1);
  const WebhookId suspect = add(part);
  driver_.admit(suspect);
  const StartAttempt hung = only_start();
  driver_.ring_after(3s);
  driver_.finish_and_settle(hung, test::failed(FailureCategory::timeout));
  const WebhookId slow = add(part);
  const StartAttempt hanging = start_slow(slow);
  lose(1);
  EXPECT_FALSE(has_lane(suspect)) << "nothing of it is in flight, and nothing will be";
  driver_.finish_and_settle(hanging, answered(200));
  driver_.ring_after(100ms);
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, AnAttemptThatHangsWhileThePartEndsIsEnded) {
  acquire(1);
  const WebhookId webhook = add(part);
  driver_.admit(webhook);
  const StartAttempt start = only_start();
  lose(1);
  driver_.ring_after(2s);
  EXPECT_EQ(driver_.take<EndAttempts>(), std::vector{EndAttempts{part}});
  EXPECT_EQ(handed_back(), 0u);
  driver_.ring_after(10s);
  EXPECT_TRUE(driver_.take<EndAttempts>().empty()) << "once";
  abandon(start);
  EXPECT_EQ(handed_back(), 1u);
}

TEST_F(ShardLeases, APartThatLeavesCanBeHurried) {
  acquire(1);
  const WebhookId slow = add(part);
  const WebhookId quick = add(part);
  const StartAttempt hanging = start_slow(slow);
  lose(1);
  EXPECT_TRUE(has_lane(quick));
  lose(1, true);
  EXPECT_EQ(driver_.take<EndAttempts>().size(), 1u);
  EXPECT_FALSE(has_lane(quick));
  abandon(hanging);
  EXPECT_EQ(handed_back(), 1u);
}

}  // namespace
}  // namespace postrider
