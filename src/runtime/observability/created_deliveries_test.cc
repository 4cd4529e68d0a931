#include "runtime/observability/created_deliveries.h"

#include <gtest/gtest.h>

#include "tests/support/manual_loop.h"

namespace postrider {
namespace {

constexpr WallTime now = test::ManualClock::start;

WebhookId webhook(std::uint32_t number) {
  WebhookId id;
  id.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  id.bytes[15] = static_cast<std::uint8_t>(number);
  return id;
}

Delivery delivery(std::uint32_t webhook_number, std::string event_type) {
  Delivery made;
  made.webhook_id = webhook(webhook_number);
  made.event_type = std::move(event_type);
  return made;
}

std::uint64_t count_of(const StreamEvent& event) {
  return std::get<DeliveriesCreated>(event.what).count;
}

TEST(CreatedDeliveries, AFewWebhooksGetAnEventEach) {
  CreatedDeliveries created;
  created.add("acme", delivery(1, "order.paid"));
  created.add("acme", delivery(2, "order.paid"));
  created.add("acme", delivery(1, "order.paid"));
  created.add("acme", delivery(1, "order.sent"));
  created.add("other", delivery(3, "order.paid"));
  const std::vector<StreamEvent> events = created.to_stream_events(now);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].at, now);
  EXPECT_EQ(events[0].tenant_id, "acme");
  EXPECT_EQ(events[0].webhook_id, webhook(1));
  EXPECT_EQ(std::get<DeliveriesCreated>(events[0].what).event_type, "order.paid");
  EXPECT_EQ(count_of(events[0]), 2u);
  EXPECT_EQ(events[1].webhook_id, webhook(2));
  EXPECT_EQ(std::get<DeliveriesCreated>(events[2].what).event_type, "order.sent");
  EXPECT_EQ(events[3].tenant_id, "other");
}

TEST(CreatedDeliveries, ManyWebhooksShareOneEventForEachTenantAndType) {
  CreatedDeliveries created;
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    created.add("acme", delivery(i % 10'000, "order.paid"));
  }
  created.add("acme", delivery(1, "order.sent"));
  const std::vector<StreamEvent> events = created.to_stream_events(now);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].webhook_id, std::nullopt);
  EXPECT_EQ(count_of(events[0]), 50'000u);
  EXPECT_EQ(events[1].webhook_id, webhook(1));
}

TEST(CreatedDeliveries, TheLimitOfNamedWebhooksCoversTheWholeTransaction) {
  CreatedDeliveries created;
  for (std::uint32_t i = 0; i < created_webhooks_max; ++i) {
    created.add("acme", delivery(i, "a"));
  }
  created.add("acme", delivery(1, "b"));
  const std::vector<StreamEvent> events = created.to_stream_events(now);
  ASSERT_EQ(events.size(), created_webhooks_max + 1);
  EXPECT_EQ(events.back().webhook_id, std::nullopt);
  EXPECT_EQ(count_of(events.back()), 1u);
}

TEST(CreatedDeliveries, NothingCreatedIsNoEvent) {
  EXPECT_TRUE(CreatedDeliveries{}.to_stream_events(now).empty());
}

}  // namespace
}  // namespace postrider
