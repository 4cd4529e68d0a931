#include "engine/shard/load_queue.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

WebhookId id(std::uint8_t number) { return WebhookId{{number}}; }

TEST(LoadQueue, IsFirstInFirstOutWithALimit) {
  LoadQueue queue{2};
  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
    queue.enqueue(id(number));
  }
  EXPECT_EQ(queue.next(), id(1));
  EXPECT_EQ(queue.next(), id(2));
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_TRUE(queue.finish(id(2)));
  EXPECT_EQ(queue.next(), id(3));
}

TEST(LoadQueue, ALaneIsQueuedOnceUntilItsLoadEnds) {
  LoadQueue queue{4};
  queue.enqueue(id(1));
  queue.enqueue(id(1));
  EXPECT_EQ(queue.next(), id(1));
  queue.enqueue(id(1));
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_TRUE(queue.finish(id(1)));
  queue.enqueue(id(1));
  EXPECT_EQ(queue.next(), id(1));
}

TEST(LoadQueue, IgnoresAnUnrequestedAnswer) {
  LoadQueue queue{1};
  EXPECT_FALSE(queue.finish(id(1)));
  queue.enqueue(id(1));
  EXPECT_FALSE(queue.finish(id(1)));  // Queued, not requested.
  EXPECT_EQ(queue.next(), id(1));
  EXPECT_TRUE(queue.is_requested(id(1)));
}

}  // namespace
}  // namespace postrider
