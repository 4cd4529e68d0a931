#include "engine/intake/intake.h"

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

WebhookRef webhook(std::uint8_t number) {
  auto made = std::make_shared<Webhook>();
  made->id = WebhookId{{number}};
  made->events = {*EventPattern::parse("*")};
  return made;
}

Event event() {
  Event made;
  made.id = EventId{{42}};
  made.type = "order.paid";
  made.priority = Priority::high;
  made.created_at = test::epoch;
  return made;
}

TEST(PlanPublish, MakesOneDeliveryPerWebhookInIdOrder) {
  const Directory directory{{webhook(2), webhook(1)}};
  UuidGenerator ids{7};
  const Publish publish = plan_publish(event(), directory, ids, test::epoch);
  EXPECT_EQ(publish.event, event());
  EXPECT_EQ(publish.claim, std::nullopt);
  EXPECT_EQ(publish.atomic_group, 0u);
  ASSERT_EQ(publish.deliveries.size(), 2u);
  const Delivery& first = publish.deliveries[0];
  EXPECT_EQ(first.webhook_id, WebhookId{{1}});
  EXPECT_EQ(publish.deliveries[1].webhook_id, WebhookId{{2}});
  EXPECT_LT(first.id, publish.deliveries[1].id);
  EXPECT_EQ(first.event_id, EventId{{42}});
  EXPECT_EQ(first.event_type, "order.paid");
  EXPECT_EQ(first.priority, Priority::high);
  EXPECT_EQ(first.state, DeliveryState::pending);
  EXPECT_EQ(first.due, test::epoch);
  EXPECT_EQ(first.sequence, 0);
  EXPECT_EQ(first.attempt_count, 0u);
}

TEST(PlanPublish, AnEventWithoutSubscribersIsPublished) {
  UuidGenerator ids{7};
  const Publish publish = plan_publish(event(), Directory{}, ids, test::epoch);
  EXPECT_EQ(publish.event, event());
  EXPECT_TRUE(publish.deliveries.empty());
}

TEST(PlanPublish, TheSameSeedGivesTheSameIds) {
  const Directory directory{{webhook(1)}};
  UuidGenerator one{7};
  UuidGenerator two{7};
  EXPECT_EQ(plan_publish(event(), directory, one, test::epoch),
            plan_publish(event(), directory, two, test::epoch));
}

}  // namespace
}  // namespace postrider
