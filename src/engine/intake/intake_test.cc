#include "engine/intake/intake.h"

#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

WebhookRef webhook(std::uint8_t number, const std::string& pattern = "*") {
  auto made = std::make_shared<Webhook>();
  made->id = WebhookId{{number}};
  made->events = {*EventPattern::parse(pattern)};
  return made;
}

WebhookRef filtered(std::uint8_t number, const std::string& filter) {
  auto made = std::make_shared<Webhook>(*webhook(number));
  made->filter = *Filter::parse(filter);
  return made;
}

Publish event(std::uint8_t number = 42, const std::string& data = "{}") {
  Publish made;
  made.event.id = EventId{{number}};
  made.event.type = "order.paid";
  made.event.data = data;
  made.event.priority = Priority::high;
  made.event.created_at = test::epoch;
  return made;
}

std::shared_ptr<const Directory> directory(std::vector<WebhookRef> webhooks) {
  return std::make_shared<const Directory>(std::move(webhooks));
}

std::vector<WebhookRef> webhooks(std::uint8_t count) {
  std::vector<WebhookRef> made;
  for (std::uint8_t number = 1; number <= count; ++number) {
    made.push_back(webhook(number));
  }
  return made;
}

std::vector<Publish> plan(std::vector<Publish> publishes, std::vector<WebhookRef> to,
                          const FanoutLimits& limits = {}, std::uint64_t effort_max = 1'000'000) {
  PublishPlanner planner{directory(std::move(to)), std::move(publishes), limits};
  while (!planner.advance(effort_max)) {
  }
  UuidGenerator ids{7};
  return std::move(planner).finish(ids, test::epoch);
}

/// The numbers of the webhooks that the event is fanned out to.
std::vector<int> fanned_out(const Publish& publish) {
  std::vector<int> numbers;
  for (std::size_t i = 0; publish.fanout && i < publish.fanout->webhooks->size(); ++i) {
    if (is_chosen(publish.fanout->chosen, i)) {
      numbers.push_back((*publish.fanout->webhooks)[i].bytes[0]);
    }
  }
  EXPECT_EQ(numbers.size(), publish.fanout ? publish.fanout->count : 0);
  return numbers;
}

TEST(PublishPlanner, MakesOneDeliveryPerWebhookInIdOrder) {
  const Publish publish =
      plan({event()}, {webhook(3), webhook(2, "order.paid"), webhook(1), webhook(4, "no")}).front();
  EXPECT_EQ(publish.event, event().event);
  EXPECT_EQ(publish.claim, std::nullopt);
  EXPECT_EQ(publish.atomic_group, 0u);
  EXPECT_EQ(publish.fanout, std::nullopt);
  ASSERT_EQ(publish.deliveries.size(), 3u);
  EXPECT_EQ(delivery_count(publish), 3u);
  const Delivery& first = publish.deliveries[0];
  EXPECT_EQ(first.webhook_id, WebhookId{{1}});
  EXPECT_EQ(publish.deliveries[1].webhook_id, WebhookId{{2}});
  EXPECT_EQ(publish.deliveries[2].webhook_id, WebhookId{{3}});
  EXPECT_LT(first.id, publish.deliveries[1].id);
  EXPECT_EQ(first.event_id, EventId{{42}});
  EXPECT_EQ(first.event_type, "order.paid");
  EXPECT_EQ(first.priority, Priority::high);
  EXPECT_EQ(first.state, DeliveryState::pending);
  EXPECT_EQ(first.due, test::epoch);
  EXPECT_EQ(first.sequence, 0);
  EXPECT_EQ(first.attempt_count, 0u);
}

TEST(PublishPlanner, DeliveriesKeepTheTraceOfTheirEvent) {
  Publish traced = event();
  traced.event.trace = TraceContext{.trace_id = {{9}}, .parent = {{1}}, .flags = 1};
  const std::vector<Publish> planned = plan({traced, event()}, {webhook(1)});
  EXPECT_EQ(planned[0].deliveries.at(0).trace, (TraceMark{{{9}}, true}));
  EXPECT_EQ(planned[1].deliveries.at(0).trace, std::nullopt);
}

TEST(PublishPlanner, AnEventWithoutSubscribersIsPublished) {
  const Publish publish = plan({event()}, {}).front();
  EXPECT_EQ(publish.event, event().event);
  EXPECT_TRUE(publish.deliveries.empty());
}

TEST(PublishPlanner, AnEventCanGoToOneWebhookWhateverItSubscribesTo) {
  const auto receivers = [](Publish publish, const std::vector<WebhookRef>& all) {
    const Publish planned = plan({std::move(publish)}, all).front();
    std::vector<int> numbers;
    for (const Delivery& delivery : planned.deliveries) {
      numbers.push_back(delivery.webhook_id.bytes[0]);
    }
    return numbers;
  };
  auto silent = std::make_shared<Webhook>(*webhook(2));
  silent->events.clear();
  silent->active = false;
  const std::vector<WebhookRef> all{webhook(1), silent, webhook(3)};
  Publish targeted = event();
  targeted.only_to = WebhookId{{2}};
  EXPECT_EQ(receivers(targeted, all), (std::vector{2}));
  EXPECT_EQ(receivers(event(), all), (std::vector{1, 3}));
  EXPECT_TRUE(receivers(targeted, {webhook(1)}).empty());
  EXPECT_TRUE(receivers(targeted, {}).empty());
}

TEST(PublishPlanner, TheSameSeedGivesTheSameIds) {
  EXPECT_EQ(plan({event()}, webhooks(3)), plan({event()}, webhooks(3)));
}

TEST(PublishPlanner, KnowsWhetherAWebhookKeepsAnOrder) {
  auto ordered = std::make_shared<Webhook>(*webhook(2));
  ordered->ordering = Ordering::per_event_type;
  EXPECT_FALSE(plan({event()}, {webhook(1)}).front().ordered);
  EXPECT_TRUE(plan({event()}, {webhook(1), ordered}).front().ordered);
}

TEST(PublishPlanner, AnEventWithManyDeliveriesGetsANote) {
  const FanoutLimits limits{.event_max = 4, .request_max = 100};
  EXPECT_EQ(plan({event()}, webhooks(4), limits).front().deliveries.size(), 4u);
  const Publish publish = plan({event()}, webhooks(5), limits).front();
  EXPECT_TRUE(publish.deliveries.empty());
  EXPECT_EQ(fanned_out(publish), (std::vector{1, 2, 3, 4, 5}));
  EXPECT_EQ(publish.fanout->due, test::epoch);
  EXPECT_EQ(delivery_count(publish), 5u);
}

TEST(PublishPlanner, ManyCandidatesOfWhichFewMatchGetDeliveries) {
  std::vector<WebhookRef> to;
  for (std::uint8_t number = 1; number <= 20; ++number) {
    to.push_back(
        filtered(number, number % 9 == 0 ? R"({"data":{"n":[1]}})" : R"({"data":{"n":[2]}})"));
  }
  const Publish publish =
      plan({event(1, R"({"n":1})")}, to, {.event_max = 4, .request_max = 100}).front();
  ASSERT_EQ(publish.deliveries.size(), 2u);
  EXPECT_EQ(publish.deliveries[0].webhook_id, WebhookId{{9}});
  EXPECT_EQ(publish.deliveries[1].webhook_id, WebhookId{{18}});
}

TEST(PublishPlanner, TheDeliveriesOfARequestAreLimitedToo) {
  const auto publishes = plan({event(1), event(2), event(3), event(4)}, webhooks(3),
                              {.event_max = 4, .request_max = 7});
  EXPECT_EQ(publishes[0].deliveries.size(), 3u);
  EXPECT_EQ(publishes[1].deliveries.size(), 3u);
  EXPECT_EQ(fanned_out(publishes[2]), (std::vector{1, 2, 3}));
  EXPECT_EQ(fanned_out(publishes[3]), (std::vector{1, 2, 3}));
  EXPECT_EQ(publishes[2].fanout->webhooks, publishes[3].fanout->webhooks) << "not shared";
}

TEST(PublishPlanner, EventsWithDifferentWebhooksShareOneListIfThatIsSmaller) {
  std::vector<WebhookRef> to = webhooks(40);
  for (std::uint8_t number = 41; number <= 44; ++number) {
    to.push_back(filtered(number, R"({"data":{"n":[)" + std::to_string(number) + "]}}"));
  }
  std::vector<Publish> publishes;
  for (std::uint8_t number = 41; number <= 44; ++number) {
    publishes.push_back(event(number, R"({"n":)" + std::to_string(number) + "}"));
  }
  const auto planned = plan(publishes, to, {.event_max = 10, .request_max = 100});
  for (std::size_t i = 0; i < planned.size(); ++i) {
    std::vector<int> expected(40);
    std::iota(expected.begin(), expected.end(), 1);
    expected.push_back(static_cast<int>(41 + i));
    EXPECT_EQ(fanned_out(planned[i]), expected);
    EXPECT_EQ(planned[i].fanout->webhooks, planned[0].fanout->webhooks);
  }
  // A single one has its own list, without the webhooks that do not match.
  const Publish single = plan({event(1)}, to, {.event_max = 10, .request_max = 100}).front();
  EXPECT_EQ(single.fanout->webhooks->size(), 40u);
  EXPECT_TRUE(single.fanout->chosen.empty());
}

TEST(PublishPlanner, StepsOfAnySizeGiveTheSame) {
  std::vector<WebhookRef> to = webhooks(20);
  to.push_back(filtered(30, R"({"data":{"n":[1]}})"));
  const std::vector<Publish> publishes{event(1), event(2, R"({"n":1})"), event(3)};
  const FanoutLimits limits{.event_max = 20, .request_max = 30};
  const auto whole = plan(publishes, to, limits);
  for (const std::uint64_t effort : {1u, 2u, 7u, 50u}) {
    EXPECT_EQ(plan(publishes, to, limits, effort), whole);
  }
}

TEST(PublishPlanner, OneStepTakesALimitedEffort) {
  const auto to = directory(webhooks(100));
  PublishPlanner planner{to, {event(1), event(2), event(3)}};
  int steps = 1;
  while (!planner.advance(60)) {
    ++steps;
  }
  EXPECT_EQ(steps, 6);
}

WebhookRef with_expensive_filter(std::uint8_t number) {
  std::string rules;
  for (int i = 0; i < 64; ++i) {
    rules += (i > 0 ? R"(,{"prefix":")" : R"({"prefix":")") + std::to_string(i) + R"("})";
  }
  return filtered(number, R"({"data":{"x":[)" + rules + "]}}");
}

TEST(PublishPlanner, AnExpensiveFilterTakesAStepForEachLargeEvent) {
  const std::string data = R"({"x":")" + std::string(200'000, '1') + R"("})";
  std::vector<WebhookRef> to;
  for (std::uint8_t number = 1; number <= 15; ++number) {
    to.push_back(with_expensive_filter(number));
  }
  PublishPlanner planner{directory(to), {event(1, data), event(2, data)}};
  EXPECT_FALSE(planner.begin(planning_effort_max));
  int steps = 1;
  while (!planner.advance(planning_effort_max)) {
    ++steps;
  }
  EXPECT_EQ(steps, 30);
  UuidGenerator ids{7};
  for (const Publish& publish : std::move(planner).finish(ids, test::epoch)) {
    EXPECT_EQ(publish.deliveries.size(), 15u) << "no webhook is left out";
  }
}

TEST(PublishPlanner, AFirstStepMakesOnlyComparisonsThatFit) {
  const std::string data = R"({"x":")" + std::string(200'000, '1') + R"("})";
  const auto to = directory({webhook(1), webhook(2), with_expensive_filter(3)});
  PublishPlanner large{to, {event(1, data)}};
  EXPECT_FALSE(large.begin(planning_effort_quick));
  EXPECT_FALSE(large.begin(planning_effort_quick)) << "it does not proceed";
  EXPECT_TRUE(large.advance(1));
  PublishPlanner small{to, {event(1, R"({"x":"1"})")}};
  EXPECT_TRUE(small.begin(planning_effort_quick));
}

}  // namespace
}  // namespace postrider
