// GET /v1/dlq/groups through the router.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::hours;

class DeadLetterGroups : public testing::Test {
 protected:
  /// A webhook of the tenant and a dead letter for each status. Returns its id.
  std::string fail_with(const std::vector<int>& statuses, const std::string& tenant = "acme",
                        const std::string& type = "order.paid") {
    const std::string owner = R"("tenant_id":")" + tenant + R"(")";
    std::string id = world_.make_webhook(owner + R"(,"name":"of )" + tenant + "\"");
    for (const int status : statuses) {
      const std::string event =
          world_.publish(R"({"type":")" + type + R"(","data":1,)" + owner + "}");
      world_.settle(world_.delivery_of(event), DeliveryState::dead_letter, status);
    }
    return id;
  }

  Answer group(const std::string& query) { return world_.call("GET", "/v1/dlq/groups?" + query); }

  ApiWorld world_;
};

TEST_F(DeadLetterGroups, AreOrderedBySize) {
  const std::string one = fail_with({500});
  world_.service().moment.wall += hours{2};
  const std::string two = fail_with({404, 503}, "other", "user.new");
  const Answer by_webhook = group("by=webhook");
  ASSERT_EQ(by_webhook.status, 200) << by_webhook.body;
  EXPECT_EQ(by_webhook.at("data.0.key"), two);
  EXPECT_EQ(by_webhook.at("data.0.webhook_name"), "of other");
  EXPECT_EQ(by_webhook.at("data.0.webhook_url"), "https://example.com/");
  EXPECT_EQ(by_webhook.at("data.0.count"), "2");
  EXPECT_EQ(by_webhook.at("data.0.oldest_at"), "2026-01-01T02:00:00.001Z");
  EXPECT_EQ(by_webhook.at("data.0.newest_at"), "2026-01-01T02:00:00.001Z");
  EXPECT_EQ(by_webhook.at("data.1.key"), one);
  EXPECT_EQ(by_webhook.at("data.1.oldest_at"), "2026-01-01T00:00:00.001Z");
  EXPECT_EQ(by_webhook.at("groups"), "2");
  EXPECT_EQ(by_webhook.at("total"), "3");
  EXPECT_EQ(by_webhook.at("more"), "false");

  const Answer by_cause = group("by=failure_category");
  EXPECT_EQ(by_cause.at("data.0.key"), "server_error");
  EXPECT_EQ(by_cause.at("data.0.count"), "2");
  EXPECT_EQ(by_cause.at("data.0.oldest_at"), "2026-01-01T00:00:00.001Z");
  EXPECT_EQ(by_cause.at("data.0.newest_at"), "2026-01-01T02:00:00.001Z");
  EXPECT_EQ(by_cause.at("data.0.webhook_name"), "(none)");
  EXPECT_EQ(by_cause.at("data.1.key"), "client_error");
  EXPECT_EQ(group("by=event_type").at("data.0.key"), "user.new");
  EXPECT_EQ(group("by=classification").at("data.0.count"), "3");
  world_.service().moment.wall += hours{1};
  EXPECT_EQ(group("by=age").at("data.0.key"), "lt_1h");
  EXPECT_EQ(group("by=age").at("data.1.key"), "1h_24h");
}

TEST_F(DeadLetterGroups, HaveTheFiltersOfTheList) {
  const std::string one = fail_with({500});
  const std::string two = fail_with({404, 503}, "other", "user.new");
  EXPECT_EQ(group("by=webhook&tenant_id=acme").at("total"), "1");
  EXPECT_EQ(group("by=age&webhook_id=" + two).at("total"), "2");
  EXPECT_EQ(group("by=webhook&failure_category=server_error").at("total"), "2");
  EXPECT_EQ(group("by=webhook&event_type=user.*").at("total"), "2");
  EXPECT_EQ(group("by=webhook&age=gt_24h").at("total"), "0");
  EXPECT_EQ(group("by=webhook&age=gt_24h").at("data"), "[]");
  const Answer limited = group("by=webhook&limit=1");
  EXPECT_EQ(limited.json.at("data").as_array().size(), 1u);
  EXPECT_EQ(limited.at("groups"), "2");
  EXPECT_EQ(limited.at("total"), "3");
}

TEST_F(DeadLetterGroups, RefuseAnUnknownGrouping) {
  for (const char* query : {"", "by=colour", "by=", "by=webhook&colour=1", "by=age&limit=0"}) {
    EXPECT_EQ(group(query).status, 400) << query;
  }
}

TEST_F(DeadLetterGroups, ShowOnlyTheTenantsOwnDeadLetters) {  // P11
  const std::string mine = fail_with({500}, "mine");
  const std::string theirs = fail_with({500, 500}, "theirs");
  world_.service().add_key({.id = KeyId{world_.service().new_uuid()},
                            .name = "mine",
                            .sha256 = sha256("prk_mine"),
                            .scope = KeyScope::tenant,
                            .tenant_id = "mine",
                            .created_at = {}});
  const auto ask = [&](const std::string& query) {
    return world_.call("GET", "/v1/dlq/groups?" + query, "",
                       {{"authorization", "Bearer prk_mine"}});
  };
  for (const char* by : {"webhook", "failure_category", "classification", "age", "event_type"}) {
    EXPECT_EQ(ask(std::string{"by="} + by).at("total"), "1") << by;
  }
  EXPECT_EQ(ask("by=webhook").at("data.0.key"), mine);
  EXPECT_EQ(ask("by=webhook&tenant_id=theirs").at("total"), "0");
  EXPECT_EQ(ask("by=webhook&webhook_id=" + theirs).at("total"), "0");
}

}  // namespace
}  // namespace postrider::api
