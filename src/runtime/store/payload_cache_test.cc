#include "runtime/store/payload_cache.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

EventRef event_of(std::uint8_t number, std::size_t data_bytes) {
  Event event;
  event.id.bytes[15] = number;
  event.data = std::string(data_bytes, 'x');
  return std::make_shared<const Event>(std::move(event));
}

TEST(PayloadCache, FindsACachedEvent) {
  PayloadCache cache{1 << 20};
  const EventRef event = event_of(1, 10);
  cache.put(event);
  EXPECT_EQ(cache.find(event->id), event);
  EXPECT_EQ(cache.find(event_of(2, 10)->id), nullptr);
}

TEST(PayloadCache, EvictsTheLeastRecentlyUsedEvent) {
  PayloadCache cache{3 * 1600};
  for (std::uint8_t number = 1; number <= 3; ++number) {
    cache.put(event_of(number, 1000));
  }
  EXPECT_NE(cache.find(event_of(1, 0)->id), nullptr) << "now the most recently used";
  cache.put(event_of(4, 1000));
  EXPECT_EQ(cache.find(event_of(2, 0)->id), nullptr);
  EXPECT_NE(cache.find(event_of(1, 0)->id), nullptr);
  EXPECT_LE(cache.bytes(), 3u * 1600u);
}

TEST(PayloadCache, KeepsTheLastEventHoweverLarge) {
  PayloadCache cache{10};
  cache.put(event_of(1, 100'000));
  EXPECT_NE(cache.find(event_of(1, 0)->id), nullptr);
  cache.put(event_of(2, 100'000));
  EXPECT_EQ(cache.find(event_of(1, 0)->id), nullptr);
}

TEST(PayloadCache, CountsAnEventOnceWhenItIsPutTwice) {
  PayloadCache cache{1 << 20};
  cache.put(event_of(1, 1000));
  const std::size_t bytes = cache.bytes();
  cache.put(event_of(1, 1000));
  EXPECT_EQ(cache.bytes(), bytes);
}

}  // namespace
}  // namespace postrider
