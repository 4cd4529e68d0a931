#include "engine/shard/timer_queue.h"

#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

WallTime at(std::int64_t ms) { return wall_from_unix_ms(ms); }

TEST(TimerQueue, OrdersByTimeThenByItem) {
  TimerQueue<WallTime> queue;
  queue.set(7, at(20));
  queue.set(3, at(10));
  queue.set(1, at(20));
  EXPECT_EQ(queue.next(), at(10));
  EXPECT_EQ(queue.pop_due(at(30)), 3u);
  EXPECT_EQ(queue.pop_due(at(30)), 1u);
  EXPECT_EQ(queue.pop_due(at(30)), 7u);
  EXPECT_EQ(queue.pop_due(at(30)), std::nullopt);
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(TimerQueue, NothingIsDueEarly) {
  TimerQueue<WallTime> queue;
  queue.set(0, at(10));
  EXPECT_EQ(queue.pop_due(at(9)), std::nullopt);
  EXPECT_EQ(queue.pop_due(at(10)), 0u);
}

TEST(TimerQueue, AnItemHasOneTimeThatCanBeChangedOrRemoved) {
  TimerQueue<WallTime> queue;
  queue.set(0, at(10));
  queue.set(1, at(20));
  queue.set(0, at(30));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.next(), at(20));
  queue.set(0, at(5));
  EXPECT_EQ(queue.next(), at(5));
  queue.set(0, std::nullopt);
  queue.set(9, std::nullopt);  // Was never set.
  EXPECT_EQ(queue.next(), at(20));
  EXPECT_EQ(queue.size(), 1u);
}

RC_GTEST_PROP(TimerQueue, AgreesWithASortedSet, ()) {
  TimerQueue<WallTime> queue;
  std::map<std::uint32_t, WallTime> times;
  std::set<std::pair<WallTime, std::uint32_t>> sorted;
  const auto changes =
      *rc::gen::container<std::vector<std::tuple<std::uint32_t, std::int64_t, bool>>>(
          rc::gen::tuple(rc::gen::inRange(0u, 40u), rc::gen::inRange<std::int64_t>(0, 100),
                         rc::gen::arbitrary<bool>()));
  for (const auto& [item, ms, gone] : changes) {
    if (const auto known = times.find(item); known != times.end()) {
      sorted.erase({known->second, item});
      times.erase(known);
    }
    if (gone) {
      queue.set(item, std::nullopt);
    } else {
      queue.set(item, at(ms));
      times.emplace(item, at(ms));
      sorted.emplace(at(ms), item);
    }
    RC_ASSERT(queue.size() == sorted.size());
    RC_ASSERT(queue.next() ==
              (sorted.empty() ? std::nullopt : std::optional{sorted.begin()->first}));
  }
  for (const auto& [time, item] : sorted) {
    RC_ASSERT(queue.pop_due(at(100)) == item);
  }
  RC_ASSERT(queue.size() == 0u);
}

}  // namespace
}  // namespace postrider
