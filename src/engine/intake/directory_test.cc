#include "engine/intake/directory.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

struct Wanted {
  TenantId tenant_id = "acme";
  std::vector<std::string> events = {"*"};
  std::optional<std::string> resource_id;
  bool active = true;
};

WebhookRef webhook(std::uint8_t number, const Wanted& wanted = {}) {
  auto made = std::make_shared<Webhook>();
  made->id = WebhookId{{number}};
  made->tenant_id = wanted.tenant_id;
  made->resource_id = wanted.resource_id;
  made->active = wanted.active;
  for (const std::string& pattern : wanted.events) {
    made->events.push_back(*EventPattern::parse(pattern));
  }
  return made;
}

Event event(const std::string& type, std::optional<std::string> resource_id = {}) {
  Event made;
  made.tenant_id = "acme";
  made.type = type;
  made.resource_id = std::move(resource_id);
  return made;
}

std::vector<int> matched(const Directory& directory, const Event& wanted) {
  std::vector<int> numbers;
  for (const WebhookRef& each : directory.match(wanted)) {
    numbers.push_back(each->id.bytes[0]);
  }
  return numbers;
}

TEST(Directory, MatchesNamesAndPatternsInIdOrder) {
  const Directory directory{{webhook(5), webhook(4, {.events = {"swap.*"}}),
                             webhook(3, {.events = {"swap.created"}}),
                             webhook(2, {.events = {"order.paid", "swap.created", "order.*"}}),
                             webhook(1, {.events = {"swap"}})}};
  EXPECT_EQ(matched(directory, event("swap.created")), (std::vector{2, 3, 4, 5}));
  EXPECT_EQ(matched(directory, event("swap")), (std::vector{1, 5}));
  EXPECT_EQ(matched(directory, event("order.sent")), (std::vector{2, 5}));
}

TEST(Directory, ATypeListedTwiceMatchesOnce) {
  const Directory directory{{webhook(1, {.events = {"swap", "swap"}})}};
  EXPECT_EQ(matched(directory, event("swap")), std::vector{1});
}

TEST(Directory, DoesNotMatchOtherTenantsOrInactiveWebhooks) {
  const Directory directory{
      {webhook(1, {.tenant_id = "other"}), webhook(2, {.active = false}), webhook(3)}};
  EXPECT_EQ(matched(directory, event("swap")), std::vector{3});
}

TEST(Directory, AWebhookWithAResourceMatchesThatResourceOnly) {
  const Directory directory{
      {webhook(1, {.resource_id = "r1"}), webhook(2, {.resource_id = "r2"}), webhook(3)}};
  EXPECT_EQ(matched(directory, event("swap", "r1")), (std::vector{1, 3}));
  EXPECT_EQ(matched(directory, event("swap")), std::vector{3});
}

TEST(Directory, WithReturnsAChangedCopy) {
  const Directory before{{webhook(1, {.events = {"swap"}})}};
  const Directory after = before.with(webhook(1, {.events = {"order"}})).with(webhook(2));
  EXPECT_EQ(matched(before, event("swap")), std::vector{1});
  EXPECT_EQ(matched(after, event("swap")), std::vector{2});
  EXPECT_EQ(matched(after, event("order")), (std::vector{1, 2}));
  EXPECT_EQ(before.all().size(), 1u);
  EXPECT_EQ(after.all().size(), 2u);
}

TEST(Directory, AWebhookThatMovesToAnotherTenantLeavesTheFirst) {
  const Directory moved =
      Directory{{webhook(1, {.tenant_id = "other"})}}.with(webhook(1, {.tenant_id = "acme"}));
  EXPECT_EQ(matched(moved, event("swap")), std::vector{1});
  Event theirs = event("swap");
  theirs.tenant_id = "other";
  EXPECT_TRUE(moved.match(theirs).empty());
}

TEST(Directory, WithoutRemovesAWebhookAndIgnoresAnUnknownOne) {
  const Directory before{{webhook(1), webhook(2)}};
  const Directory after = before.without(WebhookId{{1}}).without(WebhookId{{9}});
  EXPECT_EQ(matched(after, event("swap")), std::vector{2});
  EXPECT_EQ(after.find(WebhookId{{1}}), nullptr);
  EXPECT_NE(before.find(WebhookId{{1}}), nullptr);
  EXPECT_TRUE(after.without(WebhookId{{2}}).match(event("swap")).empty());
}

TEST(Directory, OnlyRestrictsToOneTenant) {
  const Directory directory{{webhook(1), webhook(2, {.tenant_id = "other"}), webhook(3)}};
  EXPECT_EQ(directory.count_of("acme"), 2u);
  EXPECT_EQ(directory.count_of("nobody"), 0u);
  const Directory part = directory.only("acme");
  EXPECT_EQ(part.all().size(), 2u);
  EXPECT_EQ(part.find(WebhookId{{2}}), nullptr);
  EXPECT_EQ(matched(part, event("swap")), (std::vector{1, 3}));
  EXPECT_TRUE(directory.only("nobody").all().empty());

  const Directory rest = directory.without_tenant("acme").without_tenant("nobody");
  EXPECT_EQ(rest.all().size(), 1u);
  EXPECT_NE(rest.find(WebhookId{{2}}), nullptr);
  EXPECT_TRUE(matched(rest, event("swap")).empty());
}

}  // namespace
}  // namespace postrider
