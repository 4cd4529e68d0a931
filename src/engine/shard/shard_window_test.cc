// A lane holds a window, not a queue: evicted deliveries are loaded from the store again.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

TEST(ShardWindow, KeepsOnlyAWindowInMemory) {  // P6
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit_many(webhook, 2'000);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 5u);
  EXPECT_EQ(driver.view(webhook).window_count, 1'019u);  // The others were evicted.
  EXPECT_TRUE(driver.take<LoadLane>().empty());
}

TEST(ShardWindow, LoadsEvictedDeliveriesAndSendsNothingTwice) {
  ShardDriver driver{{.window_max = 8}};
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.max_in_flight = 1; });
  const std::vector<Delivery> deliveries = driver.admit_many(webhook, 30);
  std::set<DeliveryId> done;
  std::size_t loads = 0;
  while (done.size() < 30) {
    const std::vector<StartAttempt> started = driver.take<StartAttempt>();
    ASSERT_EQ(started.size(), 1u);
    EXPECT_TRUE(done.insert(started[0].delivery.id).second);
    driver.finish_and_settle(started[0], answered(200));
    for (const LoadLane& load : driver.take<LoadLane>()) {
      ++loads;
      std::vector<Delivery> rows;
      std::ranges::copy_if(deliveries, std::back_inserter(rows),
                           [&](const Delivery& row) { return !done.contains(row.id); });
      const bool more = rows.size() > load.limit;
      rows.resize(std::min<std::size_t>(rows.size(), load.limit));
      driver.load(webhook, rows, more ? std::optional{driver.wall()} : std::nullopt);
    }
  }
  EXPECT_LE(loads, 6u);
  EXPECT_EQ(driver.view(webhook).window_count, 0u);
}

TEST(ShardWindow, AMoreUrgentDeliveryEvictsTheLeastUrgent) {
  ShardDriver driver{{.window_max = 4}};
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.max_in_flight = 1; });
  driver.admit_many(webhook, 5);
  const Delivery urgent =
      driver.admit(webhook, [](Delivery& delivery) { delivery.priority = Priority::high; });
  EXPECT_EQ(driver.view(webhook).window_count, 4u);
  EXPECT_EQ(driver.totals().waiting, (std::array<std::uint32_t, 3>{1, 3, 0}));
  driver.finish(driver.take<StartAttempt>().at(0), answered(200));
  EXPECT_EQ(driver.take_started(), std::vector{urgent.id});
}

TEST(ShardWindow, ARetryDueMuchLaterIsEvictedAndLoadedWhenDue) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.retry.delay_base = 1h; });
  driver.admit(webhook);
  driver.finish(driver.take<StartAttempt>().at(0), answered(503));
  const Settlement retry = driver.take<Settle>().at(0).settlement;
  driver.settled(retry);
  EXPECT_EQ(driver.view(webhook).window_count, 0u);
  driver.ring_after(1h - 1ms);
  EXPECT_TRUE(driver.take<LoadLane>().empty());
  driver.ring_after(1ms);
  EXPECT_EQ(driver.take<LoadLane>().size(), 1u);
  driver.load(webhook, {retry.delivery});
  EXPECT_EQ(driver.take<StartAttempt>().at(0).attempt_number, 2u);
}

TEST(ShardWindow, AFailedLoadIsRetriedAfterAPause) {
  ShardDriver driver;
  auto webhook = std::make_shared<Webhook>();
  driver.feed(WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = driver.wall()});
  EXPECT_EQ(driver.take<LoadLane>().size(), 1u);
  driver.feed(LaneLoadFailed{webhook->id});
  EXPECT_TRUE(driver.take<LoadLane>().empty());
  ASSERT_TRUE(driver.ring_next());
  EXPECT_EQ(driver.take<LoadLane>().size(), 1u);
}

TEST(ShardWindow, ABacklogIsLoadedWhenItIsDue) {
  ShardDriver driver;
  auto webhook = std::make_shared<Webhook>();
  driver.feed(WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = driver.wall() + 3h});
  EXPECT_TRUE(driver.take<LoadLane>().empty());
  EXPECT_EQ(driver.alarm(), driver.now().mono + 3h);
}

TEST(ShardWindow, AStartWithManyBacklogsLimitsConcurrentLoads) {
  ShardDriver driver{{.loads_max = 4}};
  std::vector<std::shared_ptr<Webhook>> webhooks;
  for (std::uint8_t i = 0; i < 10; ++i) {
    auto webhook = std::make_shared<Webhook>();
    webhook->id = WebhookId{{i}};
    driver.feed(WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = driver.wall()});
  }
  std::size_t loads = 0;
  std::vector<LoadLane> asked = driver.take<LoadLane>();
  EXPECT_EQ(asked.size(), 4u);
  while (!asked.empty()) {
    ++loads;
    const WebhookId next = asked.back().webhook_id;
    asked.pop_back();
    driver.load(next, {});
    for (LoadLane& load : driver.take<LoadLane>()) {
      asked.push_back(load);
    }
    EXPECT_LE(asked.size(), 4u);
  }
  EXPECT_EQ(loads, 10u);
}

TEST(ShardWindow, ALaneTakesAnEighthOfTheFreeRoom) {
  ShardDriver driver{{.in_flight_max = 1, .window_max = 1'000, .waiting_max = 900}};
  std::vector<std::uint32_t> counts;
  for (int i = 0; i < 3; ++i) {
    const WebhookId webhook = driver.add_webhook();
    driver.admit_many(webhook, 300);
    counts.push_back(driver.view(webhook).window_count);
  }
  // One delivery of the first lane is in flight.
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{111, 98, 86}));
}

TEST(ShardWindow, KeepsSmallWindowsWhenMemoryIsShort) {
  ShardDriver driver{{.in_flight_max = 1, .window_max = 100, .waiting_max = 150}};
  for (int i = 0; i < 10; ++i) {
    const WebhookId webhook = driver.add_webhook();
    for (int j = 0; j < 100; ++j) {
      driver.admit(webhook);
    }
    EXPECT_GE(driver.view(webhook).window_count, 8u);
  }
  EXPECT_LE(driver.totals().waiting[1], 150u + 8 * 8);
}

}  // namespace
}  // namespace postrider
