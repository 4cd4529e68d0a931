#include "engine/shard/load_queue.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

WebhookId id(std::uint8_t number) { return WebhookId{{number}}; }

TEST(LoadQueue, LanesAskInTurnAndOnlySoManyAtOnce) {
  LoadQueue queue{2};
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
    queue.want(id(number));
  }
  EXPECT_EQ(queue.next(), id(1));
  EXPECT_EQ(queue.next(), id(2));
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_TRUE(queue.answered(id(2)));
  EXPECT_EQ(queue.next(), id(3));
}

TEST(LoadQueue, ALaneIsThereOnceUntilItsAnswerCame) {
  LoadQueue queue{4};
  queue.want(id(1));
  queue.want(id(1));
  EXPECT_EQ(queue.next(), id(1));
  queue.want(id(1));
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_TRUE(queue.answered(id(1)));
  queue.want(id(1));
  EXPECT_EQ(queue.next(), id(1));
}

TEST(LoadQueue, AnAnswerNobodyAskedForIsNoAnswer) {
  LoadQueue queue{1};
  EXPECT_FALSE(queue.answered(id(1)));
  queue.want(id(1));
  EXPECT_FALSE(queue.answered(id(1)));  // Queued, not asked.
  EXPECT_EQ(queue.next(), id(1));
  EXPECT_TRUE(queue.asked(id(1)));
}

}  // namespace
}  // namespace postrider
