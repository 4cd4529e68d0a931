// Dry runs of replays, bulk retries and discards through the router.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

const std::string since = R"("since":"2020-01-01T00:00:00Z")";

class DryRun : public testing::Test {
 protected:
  DryRun() { mine_ = settle_in("mine"); }

  /// A webhook of the tenant with one succeeded delivery and two dead letters. Returns its id.
  std::string settle_in(const std::string& tenant) {
    const std::string owner = R"("tenant_id":")" + tenant + R"(")";
    std::string webhook = world_.make_webhook(owner);
    for (const int status : {200, 404, 500}) {
      const std::string delivery =
          world_.delivery_of(world_.publish(R"({"type":"order.paid","data":1,)" + owner + "}"));
      world_.settle(delivery, status == 200 ? DeliveryState::succeeded : DeliveryState::dead_letter,
                    status);
    }
    world_.service().moment.wall += std::chrono::hours{1};
    return webhook;
  }

  Answer replay(const std::string& fields) {
    return world_.call("POST", "/v1/webhooks/" + mine_ + "/replay", "{" + since + fields + "}");
  }

  ApiWorld world_;
  std::string mine_;
};

TEST_F(DryRun, CountsWithoutStartingAnything) {
  settle_in("other");
  const std::pair<Answer, std::string> cases[] = {
      {world_.call("POST", "/v1/dlq/retry-batch", R"({"dry_run":true})"), "4"},
      {world_.call("POST", "/v1/dlq/retry-batch",
                   R"({"dry_run":true,"filter":{"webhook_ids":[")" + mine_ + R"("]}})"),
       "2"},
      {world_.call("DELETE", "/v1/dlq?all=true&dry_run=true"), "4"},
      {world_.call("DELETE", "/v1/dlq?tenant_id=mine&dry_run=true"), "2"},
      {world_.call("DELETE", "/v1/dlq?tenant_id=nobody&dry_run=true"), "0"},
      {replay(R"(,"dry_run":true)"), "2"},
      {replay(R"(,"dry_run":true,"status":["succeeded"])"), "1"},
      {replay(R"(,"dry_run":true,"event_types":["user.*"])"), "0"}};
  for (const auto& [answer, count] : cases) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body, R"({"count":)" + count + R"(,"more":false})");
  }
  EXPECT_TRUE(world_.service().store.operations.empty());
}

TEST_F(DryRun, CountsEventsThatTheWebhookMissed) {
  world_.call("PATCH", "/v1/webhooks/" + mine_, R"({"active":false})");
  world_.publish(R"({"type":"order.paid","data":1,"tenant_id":"mine"})");
  EXPECT_EQ(replay(R"(,"dry_run":true)").at("code"), "webhook_inactive");
  world_.call("PATCH", "/v1/webhooks/" + mine_, R"({"active":true})");
  EXPECT_EQ(replay(R"(,"dry_run":true)").at("count"), "3");
}

TEST_F(DryRun, IsRefusedLikeTheOperation) {
  EXPECT_EQ(replay(R"(,"dry_run":1)").at("errors.0.field"), "dry_run");
  EXPECT_EQ(world_.call("DELETE", "/v1/dlq?dry_run=true").status, 400) << "a filter is required";
  EXPECT_EQ(world_.call("DELETE", "/v1/dlq?all=true&dry_run=maybe").status, 400);
}

TEST_F(DryRun, StartsTheOperationIfFalse) {
  EXPECT_EQ(world_.call("POST", "/v1/dlq/retry-batch", R"({"dry_run":false})").status, 202);
  EXPECT_EQ(world_.call("DELETE", "/v1/dlq?all=true&dry_run=false").status, 202);
  EXPECT_EQ(replay(R"(,"dry_run":null)").status, 202);
}

TEST_F(DryRun, CountsOnlyTheTenantsOwnData) {  // P11
  const std::string theirs = settle_in("other");
  world_.service().add_key({.id = KeyId{world_.service().new_uuid()},
                            .name = "mine",
                            .sha256 = sha256("prk_mine"),
                            .scope = KeyScope::tenant,
                            .tenant_id = "mine",
                            .created_at = {}});
  const auto call = [&](const char* method, const std::string& target, const std::string& body) {
    return world_.call(method, target, body, {{"authorization", "Bearer prk_mine"}});
  };
  EXPECT_EQ(call("POST", "/v1/dlq/retry-batch", R"({"dry_run":true})").at("count"), "2");
  EXPECT_EQ(call("DELETE", "/v1/dlq?all=true&dry_run=true", "").at("count"), "2");
  EXPECT_EQ(call("DELETE", "/v1/dlq?dry_run=true&webhook_id=" + theirs, "").at("count"), "0");
  EXPECT_EQ(call("DELETE", "/v1/dlq?dry_run=true&tenant_id=other", "").at("count"), "0");
  EXPECT_EQ(call("POST", "/v1/webhooks/" + theirs + "/replay", "{" + since + R"(,"dry_run":true})")
                .status,
            404);
}

}  // namespace
}  // namespace postrider::api
