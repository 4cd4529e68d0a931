#include "runtime/delivery/shard_host.h"

#include <gtest/gtest.h>

#include "tests/support/shard_host_driver.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::ShardHostDriver;
using test::status;

constexpr const char* one_success =
    R"(webhook_deliveries_total{event_type="order.paid",failure_category="none",)"
    R"(status="success",tenant_id="acme"} 1)";

const Settlement& only_settlement(const ShardHostDriver& driver) {
  EXPECT_EQ(driver.settle_batches.size(), 1u);
  EXPECT_EQ(driver.settle_batches.front().size(), 1u);
  return driver.settle_batches.front().front();
}

TEST(ShardHost, SendsTheRequestOfAnAdmittedDelivery) {
  ShardHostDriver driver{{.user_agent = "postrider-test"}};
  const WebhookId webhook =
      driver.add_webhook([](Webhook& each) { each.retry.timeout = Millis{1'234}; });
  const Delivery delivery = driver.admit(webhook);
  ASSERT_EQ(driver.in_flight.size(), 1u);
  const OutboundRequest& request = driver.in_flight.front().request;
  EXPECT_EQ(request.url.authority(), "receiver.example");
  EXPECT_EQ(request.timeout, 1'234ms);
  EXPECT_NE(request.bytes.find(delivery.id.to_string()), std::string::npos);
  EXPECT_NE(request.bytes.find(R"({"order":1})"), std::string::npos);
  EXPECT_NE(request.bytes.find("User-Agent: postrider-test"), std::string::npos);
  EXPECT_NE(request.bytes.find("X-Webhook-Attempt: 1\r\n"), std::string::npos);
}

TEST(ShardHost, SettlesAFinishedAttempt) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const Delivery delivery = driver.admit(webhook);
  const WallTime sent_at = driver.clock.now().wall;
  driver.clock.advance(70ms);
  driver.finish(status(200));
  driver.run_posted();
  const Settlement& settlement = only_settlement(driver);
  EXPECT_EQ(settlement.delivery.id, delivery.id);
  EXPECT_EQ(settlement.delivery.state, DeliveryState::succeeded);
  ASSERT_TRUE(settlement.attempt);
  EXPECT_EQ(settlement.attempt->outcome.executed_at, sent_at) << "the time in the request";
  ASSERT_TRUE(settlement.request) << "the shape of the request is kept";
  EXPECT_TRUE(driver.has_metric(one_success)) << driver.metrics->text();
}

TEST(ShardHost, SettlesWhatFinishedTogetherInOneBatch) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.admit(webhook);
  driver.finish(status(200));
  driver.finish(status(200));
  EXPECT_TRUE(driver.settle_batches.empty()) << "handed over behind what is ready now";
  driver.run_posted();
  ASSERT_EQ(driver.settle_batches.size(), 1u);
  EXPECT_EQ(driver.settle_batches.front().size(), 2u);
}

TEST(ShardHost, LoadsThePayloadsThatAreNotInTheCache) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const auto [first_event, first] = driver.make_delivery(webhook);
  const auto [second_event, second] = driver.make_delivery(webhook);
  driver.host().feed(Admitted{{first, second}});
  EXPECT_TRUE(driver.in_flight.empty());
  driver.run_posted();
  ASSERT_EQ(driver.event_loads.size(), 1u) << "loaded together";
  EXPECT_EQ(driver.event_loads.front().ids,
            (std::vector<EventId>{first_event->id, second_event->id}));
  driver.event_loads.front().done(std::vector<Event>{*second_event, *first_event});
  ASSERT_EQ(driver.in_flight.size(), 2u);
  EXPECT_NE(driver.in_flight[0].request.bytes.find(R"({"order":1})"), std::string::npos);
  EXPECT_NE(driver.in_flight[1].request.bytes.find(R"({"order":2})"), std::string::npos);
}

TEST(ShardHost, SendsLoadedPayloadsThatDoNotFitIntoTheCache) {
  ShardHostDriver driver{{.payload_cache_bytes = 1}};
  const WebhookId webhook = driver.add_webhook();
  const auto [first_event, first] = driver.make_delivery(webhook);
  const auto [second_event, second] = driver.make_delivery(webhook);
  driver.host().feed(Admitted{{first, second}});
  driver.run_posted();
  driver.event_loads.front().done(std::vector<Event>{*first_event, *second_event});
  EXPECT_EQ(driver.in_flight.size(), 2u);
}

TEST(ShardHost, KeepsALoadedPayloadForTheRetry) {
  ShardHostDriver driver;
  const WebhookId webhook =
      driver.add_webhook([](Webhook& each) { each.retry.delay_base = Millis{1'000}; });
  const auto [event, delivery] = driver.make_delivery(webhook);
  driver.host().feed(Admitted{{delivery}});
  driver.run_posted();
  driver.event_loads.front().done(std::vector<Event>{*event});
  driver.finish(status(500));
  driver.confirm_settlements();
  driver.ring();
  driver.run_posted();
  EXPECT_EQ(driver.in_flight.size(), 1u);
  EXPECT_EQ(driver.event_loads.size(), 1u) << "not loaded again";
}

TEST(ShardHost, HandsBackAnAttemptWhosePayloadCannotBeLoaded) {
  for (const bool missing : {false, true}) {
    ShardHostDriver driver;
    const WebhookId webhook = driver.add_webhook();
    const auto [event, delivery] = driver.make_delivery(webhook);
    driver.host().feed(Admitted{{delivery}});
    driver.run_posted();
    Result<std::vector<Event>> nothing = std::vector<Event>{};
    if (!missing) {
      nothing = fail(Errc::unavailable, "The disk failed.");
    }
    driver.event_loads.front().done(nothing);
    EXPECT_TRUE(driver.in_flight.empty());
    const auto* abandoned = std::get_if<AttemptAbandoned>(&driver.inputs.back());
    ASSERT_TRUE(abandoned);
    EXPECT_EQ(abandoned->delivery_id, delivery.id);
    EXPECT_EQ(abandoned->webhook_id, webhook);
  }
}

TEST(ShardHost, LoadsTheBacklogOfALane) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const auto [event, delivery] = driver.make_delivery(webhook);
  driver.host().feed(WebhookChanged{.webhook = driver.last_webhook, .backlog_due = delivery.due});
  ASSERT_EQ(driver.lane_loads.size(), 1u);
  EXPECT_EQ(driver.lane_loads.front().webhook_id, webhook);
  EXPECT_GT(driver.lane_loads.front().limit, 0u);
  driver.host().feed(LaneLoaded{.webhook_id = webhook, .deliveries = {delivery}, .rest_due = {}});
  driver.run_posted();
  driver.event_loads.front().done(std::vector<Event>{*event});
  EXPECT_EQ(driver.in_flight.size(), 1u);
}

TEST(ShardHost, RetriesWhenTheAlarmRings) {
  ShardHostDriver driver;
  const WebhookId webhook =
      driver.add_webhook([](Webhook& each) { each.retry.delay_base = Millis{1'000}; });
  driver.admit(webhook);
  driver.finish(status(500));
  driver.confirm_settlements();
  ASSERT_TRUE(driver.alarm);
  EXPECT_GT(*driver.alarm, driver.clock.now().mono);
  driver.ring();
  ASSERT_EQ(driver.in_flight.size(), 1u);
  EXPECT_NE(driver.in_flight.front().request.bytes.find("X-Webhook-Attempt: 2\r\n"),
            std::string::npos);
}

TEST(ShardHost, SetsTheAlarmAgainWhenItRingsEarly) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.finish(status(500));
  driver.confirm_settlements();
  const std::optional<MonoTime> set = std::exchange(driver.alarm, std::nullopt);
  driver.host().ring_alarm();
  EXPECT_EQ(driver.alarm, set);
  EXPECT_TRUE(driver.in_flight.empty());
}

TEST(ShardHost, CountsASettlementOnceThatIsRepeatedAfterAStoreFailure) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.finish(status(200));
  driver.fail_settlements();
  driver.ring();
  driver.run_posted();
  EXPECT_EQ(only_settlement(driver).delivery.state, DeliveryState::succeeded);
  driver.confirm_settlements();
  EXPECT_TRUE(driver.has_metric(one_success)) << driver.metrics->text();
  EXPECT_TRUE(driver.in_flight.empty()) << "the attempt is not repeated";
}

TEST(ShardHost, CountsADeliveryOnceThatIsGivenUpWithoutAnAttempt) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.retry.attempts_max = 2; });
  auto [event, delivery] = driver.make_delivery(webhook);
  delivery.state = DeliveryState::retrying;
  delivery.attempt_count = 2;
  delivery.budget_used = 2;
  driver.host().feed(Admitted{{delivery}});
  driver.fail_settlements();
  driver.ring();
  driver.confirm_settlements();
  EXPECT_TRUE(driver.in_flight.empty());
  EXPECT_TRUE(driver.has_metric("webhook_dlq_entries_total 1")) << driver.metrics->text();
}

TEST(ShardHost, SendsToTheNewUrlOfAChangedWebhook) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.change_webhook(*driver.last_webhook,
                        [](Webhook& each) { each.url = "https://other.example/"; });
  driver.admit(webhook);
  ASSERT_EQ(driver.in_flight.size(), 1u);
  EXPECT_EQ(driver.in_flight.front().request.url.authority(), "other.example");
}

TEST(ShardHost, SendsNothingMoreToARemovedWebhook) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.max_in_flight = 1; });
  driver.admit(webhook);
  driver.admit(webhook);
  ASSERT_EQ(driver.in_flight.size(), 1u);
  driver.host().feed(WebhookRemoved{webhook});
  driver.finish(status(500));
  driver.confirm_settlements();
  driver.admit(webhook);
  EXPECT_TRUE(driver.in_flight.empty());
}

TEST(ShardHost, SendsNothingToAWebhookThatIsRemovedWhileThePayloadLoads) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const auto [event, delivery] = driver.make_delivery(webhook);
  driver.host().feed(Admitted{{delivery}});
  driver.run_posted();
  driver.host().feed(WebhookRemoved{webhook});
  driver.event_loads.front().done(std::vector<Event>{*event});
  driver.run_posted();
  EXPECT_TRUE(driver.in_flight.empty());
}

TEST(ShardHost, FailsAttemptsToAUrlThatThePolicyForbids) {
  ShardHostDriver driver;
  const WebhookId webhook =
      driver.add_webhook([](Webhook& each) { each.url = "http://receiver.example/"; });
  driver.admit(webhook);
  EXPECT_TRUE(driver.in_flight.empty());
  driver.run_posted();
  driver.run_posted();
  EXPECT_EQ(only_settlement(driver).attempt->failure_category, FailureCategory::blocked_address);
}

TEST(ShardHost, AppliesAChangedUrlPolicyToConnectionsAndChangedWebhooks) {
  ShardHostDriver driver;
  const WebhookId webhook =
      driver.add_webhook([](Webhook& each) { each.url = "http://receiver.example/"; });
  UrlPolicy policy;
  policy.allow_http = true;
  driver.host().change_url_policy(policy);
  ASSERT_EQ(driver.address_policies.size(), 1u);
  driver.host().feed(WebhookChanged{.webhook = driver.last_webhook});
  driver.admit(webhook);
  EXPECT_EQ(driver.in_flight.size(), 1u);
}

TEST(ShardHost, ProbesOutsideTheLanes) {
  ShardHostDriver driver;
  Webhook webhook;
  webhook.url = "https://receiver.example/probe";
  Event event;
  event.type = "postrider.test";
  event.data = "{}";
  std::optional<Outcome> outcome;
  driver.host().probe({.webhook = std::make_shared<const Webhook>(webhook),
                       .event = event,
                       .timeout = 777ms,
                       .done = [&](Outcome each) { outcome = std::move(each); }});
  ASSERT_EQ(driver.in_flight.size(), 1u);
  EXPECT_EQ(driver.in_flight.front().request.timeout, 777ms);
  driver.finish(status(204));
  driver.run_posted();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->http_status, 204);
  EXPECT_TRUE(driver.settle_batches.empty()) << "nothing is recorded";
}

TEST(ShardHost, ReportsAForbiddenUrlToTheCallerOfAProbe) {
  ShardHostDriver driver;
  Webhook webhook;
  webhook.url = "http://receiver.example/";
  std::optional<Outcome> outcome;
  driver.host().probe({.webhook = std::make_shared<const Webhook>(webhook),
                       .event = {},
                       .timeout = 1s,
                       .done = [&](Outcome each) { outcome = std::move(each); }});
  EXPECT_FALSE(outcome) << "never from inside probe()";
  driver.run_posted();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->failure, FailureCategory::blocked_address);
  EXPECT_EQ(outcome->executed_at, driver.clock.now().wall);
  EXPECT_FALSE(outcome->error_message.empty());
}

}  // namespace
}  // namespace postrider
