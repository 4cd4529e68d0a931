#include "engine/notify/message_limit.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);

TEST(MessageLimit, CountsTheMessagesOfAnHour) {
  MessageLimit limit;
  EXPECT_TRUE(limit.has_room(2));
  EXPECT_LT(limit.room_at(2), noon);
  limit.sent(noon);
  limit.sent(noon + 10min);
  EXPECT_FALSE(limit.has_room(2));
  EXPECT_EQ(limit.room_at(2), noon + 1h);
  limit.advance(noon + 1h - 1ms);
  EXPECT_FALSE(limit.has_room(2));
  limit.advance(noon + 1h);
  EXPECT_TRUE(limit.has_room(2));
  EXPECT_FALSE(limit.has_room(1));
  EXPECT_EQ(limit.room_at(1), noon + 70min);
}

TEST(MessageLimit, ALowerLimitWaitsForSeveralMessages) {
  MessageLimit limit;
  limit.sent(noon + 2min);  // In any order: after a restart they are read newest first.
  limit.sent(noon + 1min);
  limit.sent(noon);
  EXPECT_EQ(limit.room_at(1), noon + 62min);
  EXPECT_EQ(limit.room_at(3), noon + 1h);
}

TEST(MessageLimit, IsIdleAfterAnHour) {
  MessageLimit limit;
  EXPECT_TRUE(limit.is_idle(noon));
  limit.sent(noon);
  EXPECT_FALSE(limit.is_idle(noon + 1h - 1ms));
  EXPECT_TRUE(limit.is_idle(noon + 1h));
}

}  // namespace
}  // namespace postrider
