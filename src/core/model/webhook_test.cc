#include "core/model/webhook.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

Webhook webhook_for(std::string_view pattern) {
  Webhook webhook;
  webhook.tenant_id = "tnt_one";
  webhook.events = {*EventPattern::parse(pattern)};
  return webhook;
}

Event event_of(std::string type) {
  Event event;
  event.tenant_id = "tnt_one";
  event.type = std::move(type);
  return event;
}

TEST(Wants, MatchesIfAnyPatternMatches) {
  Webhook webhook = webhook_for("order.created");
  webhook.events.push_back(*EventPattern::parse("swap.*"));
  EXPECT_TRUE(wants(webhook, event_of("order.created")));
  EXPECT_TRUE(wants(webhook, event_of("swap.failed")));
  EXPECT_FALSE(wants(webhook, event_of("order.paid")));

  webhook.events.clear();
  EXPECT_FALSE(wants(webhook, event_of("order.created")))
      << "a webhook without patterns matches no event";
}

TEST(Wants, NeverCrossesTenants) {  // P11
  Webhook webhook = webhook_for("*");
  webhook.tenant_id = "tnt_two";
  EXPECT_FALSE(wants(webhook, event_of("order.created")));
  webhook.tenant_id = "";
  EXPECT_FALSE(wants(webhook, event_of("order.created")))
      << "the default tenant is a tenant like any other";
}

TEST(Wants, NoEventsWhileInactiveButAllWhilePaused) {
  Webhook webhook = webhook_for("*");
  webhook.paused = true;
  EXPECT_TRUE(wants(webhook, event_of("order.created")));
  webhook.active = false;
  EXPECT_FALSE(wants(webhook, event_of("order.created")));
}

TEST(Wants, OnlyEventsOfItsResource) {
  Webhook webhook = webhook_for("*");
  Event event = event_of("order.created");
  event.resource_id = "order-1";
  EXPECT_TRUE(wants(webhook, event)) << "a webhook without a resource gets all of them";

  webhook.resource_id = "order-1";
  EXPECT_TRUE(wants(webhook, event));
  event.resource_id = "order-2";
  EXPECT_FALSE(wants(webhook, event));
  event.resource_id.reset();
  EXPECT_FALSE(wants(webhook, event));
}

TEST(Wants, AppliesTheFilterLast) {
  Webhook webhook = webhook_for("order.*");
  webhook.filter = *Filter::parse(R"({"data":{"amount":[{"numeric":[">",100]}]}})");
  Event event = event_of("order.created");
  event.data = R"({"amount":101})";
  EXPECT_TRUE(wants(webhook, event));
  event.data = R"({"amount":100})";
  EXPECT_FALSE(wants(webhook, event));
  event.data = R"({"amount":101})";
  event.type = "swap.created";
  EXPECT_FALSE(wants(webhook, event));
}

}  // namespace
}  // namespace postrider
