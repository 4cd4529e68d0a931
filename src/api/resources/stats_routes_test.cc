// GET /v1/stats over a server in memory.
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

class StatsRoutes : public testing::Test {
 protected:
  /// One event, delivered after a failure.
  void deliver(const std::string& tenant = "acme") {
    const std::string event =
        world_.publish(R"({"type":"order.paid","data":1,"tenant_id":")" + tenant + "\"}");
    const std::string delivery = world_.delivery_of(event);
    world_.settle(delivery, DeliveryState::retrying, 500);
    world_.settle(delivery, DeliveryState::succeeded, 200);
  }

  ApiWorld world_;
};

TEST_F(StatsRoutes, CountsByOutcomeInTotalByBucketAndByWebhook) {
  const std::string webhook = world_.make_webhook(R"("tenant_id":"acme")");
  deliver();
  const Answer answer = world_.call("GET", "/v1/stats");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.at("bucket"), "1h");
  EXPECT_EQ(answer.at("total.published"), "1");
  EXPECT_EQ(answer.at("total.deliveries"), "1");
  EXPECT_EQ(answer.at("total.attempts"), "2");
  EXPECT_EQ(answer.at("total.succeeded"), "1");
  EXPECT_EQ(answer.at("total.failed"), "1");
  EXPECT_EQ(answer.at("total.retries"), "1");
  EXPECT_EQ(answer.at("total.dead_letters"), "0");
  EXPECT_EQ(answer.at("total.failures.server_error"), "1");
  EXPECT_EQ(answer.json.at("total").at("success_rate").to_number<double>(), 0.5);
  EXPECT_EQ(answer.json.at("buckets").as_array().size(), 25u) << "24 hours and the one under way";
  EXPECT_EQ(answer.at("buckets.0.attempts"), "0");
  EXPECT_EQ(answer.at("buckets.0.success_rate"), "null");
  EXPECT_EQ(answer.at("webhooks.data.0.webhook_id"), webhook);
  EXPECT_EQ(answer.at("webhooks.data.0.attempts"), "2");
  EXPECT_EQ(answer.at("webhooks.next_cursor"), "null");
}

TEST_F(StatsRoutes, ADeliveryThatSucceedsAtTheSecondAttemptHasTwoRates) {
  world_.make_webhook(R"("tenant_id":"acme")");
  deliver();
  const Answer answer = world_.call("GET", "/v1/stats");
  EXPECT_EQ(answer.at("total.deliveries_succeeded"), "1");
  EXPECT_EQ(answer.at("total.deliveries_failed"), "0");
  EXPECT_EQ(answer.json.at("total").at("success_rate").to_number<double>(), 0.5);
  EXPECT_EQ(answer.json.at("total").at("delivery_success_rate").to_number<double>(), 1);
  EXPECT_EQ(answer.at("buckets.0.delivery_success_rate"), "null");
}

TEST_F(StatsRoutes, TheWorstWebhookOfTheWeekComesFirstWithItsNameAndUrl) {
  const std::string good = world_.make_webhook(R"("tenant_id":"good","name":"Good")");
  const std::string bad = world_.make_webhook(R"("tenant_id":"bad","name":"Bad")");
  deliver("good");
  deliver("good");
  const std::string lost = world_.publish(R"({"type":"a","data":1,"tenant_id":"bad"})");
  world_.settle(world_.delivery_of(lost), DeliveryState::dead_letter, 404);
  EXPECT_EQ(world_.call("GET", "/v1/stats").at("webhooks.data.0.webhook_id"), good);
  const Answer week = world_.call("GET", "/v1/stats?period=7d&sort=worst");
  ASSERT_EQ(week.status, 200) << week.body;
  EXPECT_EQ(week.json.at("buckets").as_array().size(), 7u * 24 + 1);
  EXPECT_EQ(week.at("webhooks.data.0.webhook_id"), bad);
  EXPECT_EQ(week.at("webhooks.data.0.name"), "Bad");
  EXPECT_EQ(week.at("webhooks.data.0.url"), "https://example.com/");
  EXPECT_EQ(
      week.json.at("webhooks").at("data").at(0).at("delivery_success_rate").to_number<double>(), 0);
  EXPECT_EQ(week.at("webhooks.data.1.name"), "Good");
  ASSERT_EQ(world_.call("DELETE", "/v1/webhooks/" + bad).status, 204);
  const Answer after = world_.call("GET", "/v1/stats?period=7d&sort=worst");
  EXPECT_EQ(after.at("webhooks.data.0.webhook_id"), bad);
  EXPECT_EQ(after.at("webhooks.data.0.name"), "null");
  EXPECT_EQ(after.at("webhooks.data.0.url"), "null");
}

TEST_F(StatsRoutes, WebhooksArePagedByVolume) {
  for (const char* tenant : {"a", "b", "c"}) {
    world_.make_webhook(R"("tenant_id":")" + std::string{tenant} + "\"");
    deliver(tenant);
  }
  const Answer first = world_.call("GET", "/v1/stats?limit=2");
  EXPECT_EQ(first.json.at("webhooks").at("data").as_array().size(), 2u);
  const Answer second =
      world_.call("GET", "/v1/stats?limit=2&cursor=" + first.at("webhooks.next_cursor"));
  EXPECT_EQ(second.json.at("webhooks").at("data").as_array().size(), 1u);
  EXPECT_EQ(second.at("webhooks.next_cursor"), "null");
  EXPECT_EQ(world_.call("GET", "/v1/stats?limit=2&offset=2").at("webhooks.data"),
            second.at("webhooks.data"));
}

TEST_F(StatsRoutes, FiltersByWebhookTenantAndTime) {
  const std::string webhook = world_.make_webhook(R"("tenant_id":"acme")");
  world_.make_webhook(R"("tenant_id":"other")");
  deliver("acme");
  deliver("other");
  EXPECT_EQ(world_.call("GET", "/v1/stats").at("total.attempts"), "4");
  EXPECT_EQ(world_.call("GET", "/v1/stats?tenant_id=other").at("total.attempts"), "2");
  EXPECT_EQ(world_.call("GET", "/v1/stats?webhook_id=" + webhook).at("total.attempts"), "2");
  const Answer past =
      world_.call("GET", "/v1/stats?from=2025-01-01T00:00:00Z&to=2025-01-02T00:00:00Z&bucket=1d");
  EXPECT_EQ(past.at("total.attempts"), "0");
  EXPECT_EQ(past.json.at("buckets").as_array().size(), 1u);
  EXPECT_EQ(past.at("buckets.0.start"), "2025-01-01T00:00:00.000Z");
}

TEST_F(StatsRoutes, ShowTheCurrentLoadOfTheServerOrOfATenant) {
  world_.service().load = {.waiting = 4, .in_flight = 3, .dead_letters = 2};
  world_.service().tenant_loads["acme"] = {.waiting = 1, .in_flight = 1, .open_circuits = 1};
  const Answer all = world_.call("GET", "/v1/stats");
  EXPECT_EQ(all.at("now.waiting"), "4");
  EXPECT_EQ(all.at("now.in_flight"), "3");
  EXPECT_EQ(all.at("now.dead_letters"), "2");
  EXPECT_EQ(all.at("now.open_circuits"), "0");
  const Answer acme = world_.call("GET", "/v1/stats?tenant_id=acme");
  EXPECT_EQ(acme.at("now.waiting"), "1");
  EXPECT_EQ(acme.at("now.open_circuits"), "1");
  EXPECT_EQ(world_.call("GET", "/v1/stats?tenant_id=other").at("now.waiting"), "0");
  const std::string webhook = world_.make_webhook();
  EXPECT_EQ(world_.call("GET", "/v1/stats?webhook_id=" + webhook).at("now"), "null");
}

TEST_F(StatsRoutes, ShowATenantItsOwnLoadOnly) {
  world_.service().load = {.waiting = 4};
  world_.service().tenant_loads["acme"] = {.waiting = 1};
  world_.service().tenant_loads["other"] = {.waiting = 3};
  const Answer key =
      world_.call("POST", "/v1/api-keys", R"({"scope":"tenant","tenant_id":"acme"})");
  const auto waiting = [&](const std::string& query) {
    return world_
        .call("GET", "/v1/stats" + query, "", {{"authorization", "Bearer " + key.at("key")}})
        .at("now.waiting");
  };
  EXPECT_EQ(waiting(""), "1");
  EXPECT_EQ(waiting("?tenant_id=acme"), "1");
  EXPECT_EQ(waiting("?tenant_id=other"), "0");
}

TEST_F(StatsRoutes, RejectsInvalidQueries) {
  const struct {
    std::string query;
    std::string field;
  } cases[] = {
      {"bucket=2h", "bucket"},
      {"from=2025-01-02T00:00:00Z&to=2025-01-02T00:00:00Z", "from"},
      {"from=yesterday", "from"},
      {"period=2d", "period"},
      {"period=7d&from=2025-01-02T00:00:00Z", "period"},
      {"sort=best", "sort"},
      {"from=2020-01-01T00:00:00Z&to=2025-01-01T00:00:00Z&bucket=5m", "bucket"},
      {"webhook_id=42", "webhook_id"},
      {"status=succeeded", "status"},
      {"cursor=made-up", "cursor"},
  };
  for (const auto& c : cases) {
    const Answer answer = world_.call("GET", "/v1/stats?" + c.query);
    EXPECT_EQ(answer.status, 400) << c.query;
    EXPECT_EQ(answer.at("errors.0.field"), c.field) << answer.body;
  }
}

}  // namespace
}  // namespace postrider::api
