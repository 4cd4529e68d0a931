// What may start and when: slots, the reserve, rates and turns.
#include <map>

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

ShardDriver::Tweak of_tenant(const std::string& tenant_id) {
  return [=](Webhook& webhook) {
    webhook.tenant_id = tenant_id;
    webhook.max_in_flight = 1'000;
  };
}

std::map<TenantId, std::size_t> count_by_tenant(const std::vector<StartAttempt>& started,
                                                const std::map<WebhookId, TenantId>& tenants) {
  std::map<TenantId, std::size_t> counts;
  for (const StartAttempt& start : started) {
    ++counts[tenants.at(start.delivery.webhook_id)];
  }
  return counts;
}

TEST(Slots, RespectsTheLimitOfAWebhook) {  // P7
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit_many(webhook, 8);
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  EXPECT_EQ(started.size(), 5u);
  driver.finish(started[0], answered(200));
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Slots, ALoweredLimitAppliesToTheNextStart) {
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit_many(webhook, 8);
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  driver.change_webhook(webhook, [](Webhook& each) { each.max_in_flight = 4; });
  driver.finish(started[0], answered(200));
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  driver.finish(started[1], answered(200));
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Slots, OneTenantCannotTakeAllSlots) {  // P5
  ShardDriver driver{{.in_flight_max = 7, .tenant_in_flight_max = 6, .first_attempt_reserve = 0}};
  const WebhookId greedy = driver.add_webhook(of_tenant("greedy"));
  const WebhookId modest = driver.add_webhook(of_tenant("modest"));
  driver.admit_many(greedy, 20);
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  EXPECT_EQ(started.size(), 6u);
  EXPECT_EQ(driver.view(greedy).blocked, BlockReason::slots);
  driver.admit(modest);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
  driver.finish(started[0], answered(200));
  EXPECT_EQ(driver.take<StartAttempt>().at(0).delivery.webhook_id, greedy);
}

TEST(Slots, RespectsTheTotalLimit) {
  ShardDriver driver{{.in_flight_max = 3, .tenant_in_flight_max = 3, .first_attempt_reserve = 0}};
  const WebhookId one = driver.add_webhook();
  const WebhookId two = driver.add_webhook();
  driver.admit_many(one, 2);
  driver.admit_many(two, 2);
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  EXPECT_EQ(started.size(), 3u);
  EXPECT_EQ(driver.view(two).blocked, BlockReason::slots);
  driver.finish(started[0], answered(200));
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Reserve, RetriesDoNotUseTheReserve) {
  ShardDriver driver{{.in_flight_max = 4, .tenant_in_flight_max = 4, .first_attempt_reserve = 2}};
  const WebhookId failing = driver.add_webhook(of_tenant("a"));
  const WebhookId healthy = driver.add_webhook(of_tenant("a"));
  const auto retry = [](Delivery& delivery) { delivery.attempt_count = 1; };
  for (int i = 0; i < 4; ++i) {
    driver.admit(failing, retry);
  }
  const std::vector<StartAttempt> started = driver.take<StartAttempt>();
  EXPECT_EQ(started.size(), 2u);
  EXPECT_EQ(driver.view(failing).blocked, BlockReason::slots);
  driver.admit_many(healthy, 3);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 2u);
  // The free slot is one of the last two: a first attempt gets it.
  driver.finish(started[0], answered(200));
  EXPECT_EQ(driver.take<StartAttempt>().at(0).delivery.webhook_id, healthy);
}

TEST(Reserve, AManualAttemptIsNotARetry) {
  ShardDriver driver{{.in_flight_max = 2, .tenant_in_flight_max = 2, .first_attempt_reserve = 1}};
  const WebhookId webhook = driver.add_webhook();
  const auto revived = [](Delivery& delivery) {
    delivery.attempt_count = 9;
    delivery.trigger = Trigger::manual;
  };
  driver.admit(webhook, revived);
  driver.admit(webhook, revived);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 2u);
}

TEST(Reserve, AReserveOfAllSlotsStillAllowsOneRetry) {
  ShardDriver driver{{.in_flight_max = 2, .tenant_in_flight_max = 2, .first_attempt_reserve = 99}};
  driver.admit(driver.add_webhook(), [](Delivery& delivery) { delivery.attempt_count = 1; });
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Rate, StartsAsSoonAsThereIsAToken) {  // P7
  ShardDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) {
    each.rate_limit = RateLimit{.count = 3, .period = 1s, .burst = 2};
    each.max_in_flight = 100;
  });
  const MonoTime begun = driver.now().mono;
  driver.admit_many(webhook, 6);
  std::vector<Micros> starts(driver.take<StartAttempt>().size(), 0us);
  EXPECT_EQ(driver.totals().rate_limited_total, 1u);
  EXPECT_EQ(driver.view(webhook).blocked, BlockReason::rate);
  while (starts.size() < 6) {
    ASSERT_TRUE(driver.ring_next());
    for (std::size_t i = driver.take<StartAttempt>().size(); i > 0; --i) {
      starts.push_back(driver.now().mono - begun);
    }
  }
  EXPECT_EQ(starts,
            (std::vector<Micros>{0us, 0us, 333'334us, 666'667us, 1'000'000us, 1'333'334us}));
}

TEST(Rate, TheTenantRateAppliesToAllLanesOfTheTenantOnly) {
  ShardDriver driver{{.tenant_rate = RateLimit{.count = 1, .period = 1s, .burst = 2}}};
  const WebhookId one = driver.add_webhook(of_tenant("a"));
  const WebhookId two = driver.add_webhook(of_tenant("a"));
  const WebhookId other = driver.add_webhook(of_tenant("b"));
  driver.admit_many(one, 2);
  driver.admit_many(two, 2);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 2u);
  EXPECT_EQ(driver.view(one).blocked, BlockReason::none);
  EXPECT_EQ(driver.view(two).blocked, BlockReason::rate);
  EXPECT_EQ(driver.view(two).blocked_until, driver.wall() + 1s);
  driver.admit(other);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
  EXPECT_EQ(driver.alarm(), driver.now().mono + 1s);
  driver.ring_after(1s);
  EXPECT_EQ(driver.take<StartAttempt>().at(0).delivery.webhook_id, two);
}

TEST(Rate, TheTotalRateAppliesToAllTenants) {
  ShardDriver driver{{.total_rate = RateLimit{.count = 10, .period = 1s, .burst = 1}}};
  const WebhookId one = driver.add_webhook(of_tenant("a"));
  const WebhookId two = driver.add_webhook(of_tenant("b"));
  driver.admit(one);
  driver.admit(two);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
  EXPECT_EQ(driver.view(two).blocked, BlockReason::rate);
  EXPECT_EQ(driver.alarm(), driver.now().mono + 100ms);
  driver.ring_after(100ms);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Rate, ABlockedLaneTakesNoSharedToken) {
  ShardDriver driver{{.tenant_rate = RateLimit{.count = 1, .period = 1h, .burst = 1}}};
  const WebhookId limited = driver.add_webhook([](Webhook& each) {
    each.tenant_id = "a";
    each.rate_limit = RateLimit{.count = 0, .period = 1s, .burst = 1};
  });
  const WebhookId spent = driver.add_webhook([](Webhook& each) {
    each.tenant_id = "a";
    each.paused = true;
  });
  driver.admit(spent);
  driver.admit(limited);  // Takes its only token and one of the tenant.
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
  driver.admit(limited);
  driver.ring_after(1h);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  const WebhookId free = driver.add_webhook([](Webhook& each) { each.tenant_id = "a"; });
  driver.admit(free);  // The tenant's new token is still there.
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Rate, ABucketIsEmptyAfterARestart) {  // P7
  ShardDriver driver;
  auto webhook = std::make_shared<Webhook>();
  webhook->rate_limit = RateLimit{.count = 2, .period = 1s, .burst = 10};
  driver.feed(
      WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = {}, .at_start = true});
  driver.admit_many(webhook->id, 3);
  EXPECT_TRUE(driver.take<StartAttempt>().empty());
  driver.ring_after(500ms);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

TEST(Turns, SaturatedPrioritiesShareEightToFourToOne) {
  ShardDriver driver{{.in_flight_max = 1,
                      .tenant_in_flight_max = 1,
                      .first_attempt_reserve = 0,
                      .window_max = 2'000}};
  for (const Priority priority : {Priority::high, Priority::normal, Priority::low}) {
    const WebhookId webhook = driver.add_webhook();
    for (int i = 0; i < 1'000; ++i) {
      driver.admit(webhook, [=](Delivery& delivery) { delivery.priority = priority; });
    }
  }
  StartAttempt current = driver.take<StartAttempt>().at(0);
  std::array<int, priority_count> counts{};
  for (int i = 0; i < 1'300; ++i) {
    driver.finish_and_settle(current, answered(200));
    current = driver.take<StartAttempt>().at(0);
    ++counts[static_cast<std::size_t>(current.delivery.priority)];
  }
  EXPECT_EQ(counts, (std::array{800, 400, 100}));
}

TEST(Turns, AHugeBacklogDoesNotDelayOtherTenants) {  // P5
  ShardDriver driver{{.in_flight_max = 1, .tenant_in_flight_max = 1, .first_attempt_reserve = 0}};
  std::map<WebhookId, TenantId> tenants;
  for (int i = 0; i < 20; ++i) {
    const WebhookId webhook = driver.add_webhook(of_tenant("huge"));
    tenants.emplace(webhook, "huge");
    driver.admit_many(webhook, 100);
  }
  const WebhookId small = driver.add_webhook(of_tenant("small"));
  tenants.emplace(small, "small");
  driver.admit_many(small, 60);
  StartAttempt current = driver.take<StartAttempt>().at(0);
  std::vector<StartAttempt> all;
  for (int i = 0; i < 100; ++i) {
    driver.finish_and_settle(current, answered(200));
    current = driver.take<StartAttempt>().at(0);
    all.push_back(current);
  }
  EXPECT_EQ(count_by_tenant(all, tenants),
            (std::map<TenantId, std::size_t>{{"huge", 50}, {"small", 50}}));
}

TEST(Turns, ANewEventDoesNotWaitForHangingLanes) {  // P5
  ShardDriver driver;
  for (int i = 0; i < 100; ++i) {
    driver.admit_many(driver.add_webhook(of_tenant("slow")), 20);
  }
  (void)driver.take<StartAttempt>();
  const WebhookId healthy = driver.add_webhook(of_tenant("healthy"));
  driver.admit(healthy);
  EXPECT_EQ(driver.take<StartAttempt>().size(), 1u);
}

}  // namespace
}  // namespace postrider
