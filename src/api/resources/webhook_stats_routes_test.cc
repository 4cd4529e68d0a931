// GET /v1/stats/webhooks through the router.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

class WebhookStats : public testing::Test {
 protected:
  /// One event of the tenant, delivered after a failure.
  void deliver(const std::string& tenant) {
    const std::string event =
        world_.publish(R"({"type":"order.paid","data":1,"tenant_id":")" + tenant + "\"}");
    const std::string delivery = world_.delivery_of(event);
    world_.settle(delivery, DeliveryState::retrying, 500);
    world_.settle(delivery, DeliveryState::succeeded, 200);
  }

  Answer chart(const std::string& query) {
    return world_.call("GET", "/v1/stats/webhooks?" + query);
  }

  ApiWorld world_;
};

TEST_F(WebhookStats, ShowsEveryHourOfEveryWebhookInTheOrderAsked) {
  const std::string busy = world_.make_webhook(R"("tenant_id":"acme")");
  const std::string idle = world_.make_webhook(R"("tenant_id":"idle")");
  deliver("acme");
  world_.service().moment.wall += std::chrono::hours{2};
  deliver("acme");
  deliver("acme");
  const Answer day = chart("ids=" + idle + "," + busy);
  ASSERT_EQ(day.status, 200) << day.body;
  EXPECT_EQ(day.at("data.0.webhook_id"), idle);
  EXPECT_EQ(day.at("data.0.success_rate"), "null");
  EXPECT_EQ(day.json.at("data").at(0).at("buckets").as_array().size(), 24u);
  EXPECT_EQ(day.at("data.1.webhook_id"), busy);
  EXPECT_EQ(day.json.at("data").at(1).at("success_rate").to_number<double>(), 0.5);
  EXPECT_EQ(day.at("data.1.buckets.21"),
            R"({"at":"2026-01-01T00:00:00.000Z","succeeded":1,"failed":1})");
  EXPECT_EQ(day.at("data.1.buckets.22"),
            R"({"at":"2026-01-01T01:00:00.000Z","succeeded":0,"failed":0})");
  EXPECT_EQ(day.at("data.1.buckets.23"),
            R"({"at":"2026-01-01T02:00:00.000Z","succeeded":2,"failed":2})");
  EXPECT_EQ(chart("ids=" + busy + "&period=1h").at("data.0.buckets"),
            R"([{"at":"2026-01-01T02:00:00.000Z","succeeded":2,"failed":2}])");
}

TEST_F(WebhookStats, TakesOneToAHundredIds) {
  const std::string id = world_.make_webhook();
  std::string ids = id;
  for (int count = 1; count < 100; ++count) {
    ids += "," + id;
  }
  EXPECT_EQ(chart("ids=" + ids).status, 200);
  for (const std::string& query : {std::string{}, std::string{"ids="}, std::string{"ids=x"},
                                   "ids=" + ids + "," + id, "ids=" + id + "&period=30d"}) {
    EXPECT_EQ(chart(query).status, 400) << query;
  }
}

TEST_F(WebhookStats, ShowsNothingOfOtherTenants) {  // P11
  const std::string theirs = world_.make_webhook(R"("tenant_id":"theirs")");
  deliver("theirs");
  world_.service().add_key({.id = KeyId{world_.service().new_uuid()},
                            .name = "mine",
                            .sha256 = sha256("prk_mine"),
                            .scope = KeyScope::tenant,
                            .tenant_id = "mine",
                            .created_at = {}});
  const Answer seen = world_.call("GET", "/v1/stats/webhooks?ids=" + theirs, "",
                                  {{"authorization", "Bearer prk_mine"}});
  EXPECT_EQ(seen.at("data.0.success_rate"), "null") << "as for an id that does not exist";
}

}  // namespace
}  // namespace postrider::api
