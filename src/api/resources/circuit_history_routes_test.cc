// GET /v1/webhooks/{id}/circuit-breaker/history through the router.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::seconds;

class CircuitHistory : public testing::Test {
 protected:
  void open(const std::string& webhook, const OpenPeriod& period) {
    world_.service().store.open_periods[{*WebhookId::parse(webhook), period.opened_at}] = period;
  }

  static std::string path(const std::string& webhook) {
    return "/v1/webhooks/" + webhook + "/circuit-breaker/history";
  }

  ApiWorld world_;
  WallTime now_ = world_.service().moment.wall;
};

TEST_F(CircuitHistory, ListsTheOpenPeriodsNewestFirst) {
  const std::string webhook = world_.make_webhook();
  EXPECT_EQ(world_.call("GET", path(webhook)).body, R"({"data":[],"next_cursor":null})");
  open(webhook, {.opened_at = now_ - seconds{100}, .ended_at = now_ - seconds{70}});
  open(webhook, {.opened_at = now_ - seconds{10}, .reason = OpenReason::forced});
  const Answer all = world_.call("GET", path(webhook));
  EXPECT_EQ(all.at("data.0.opened_at"), "2025-12-31T23:59:50.000Z") << all.body;
  EXPECT_EQ(all.at("data.0.ended_at"), "null");
  EXPECT_EQ(all.at("data.0.reason"), "forced");
  EXPECT_EQ(all.at("data.0.duration_ms"), "10000") << "so far";
  EXPECT_EQ(all.at("data.1.ended_at"), "2025-12-31T23:58:50.000Z");
  EXPECT_EQ(all.at("data.1.reason"), "failures");
  EXPECT_EQ(all.at("data.1.duration_ms"), "30000");
  EXPECT_EQ(all.at("next_cursor"), "null");

  const Answer first = world_.call("GET", path(webhook) + "?limit=1");
  const Answer second =
      world_.call("GET", path(webhook) + "?limit=1&cursor=" + first.at("next_cursor"));
  EXPECT_EQ(first.at("data.0.reason"), "forced");
  EXPECT_EQ(second.at("data.0.reason"), "failures");
  EXPECT_EQ(second.at("next_cursor"), "null");
  EXPECT_EQ(world_.call("GET", path(webhook) + "?cursor=x").status, 400);
  EXPECT_EQ(world_.call("GET", path("whk_00000000000000000000000000")).status, 404);
}

TEST_F(CircuitHistory, IsHiddenFromOtherTenants) {  // P11
  const std::string theirs = world_.make_webhook(R"("tenant_id":"theirs")");
  open(theirs, {.opened_at = now_});
  world_.service().add_key({.id = KeyId{world_.service().new_uuid()},
                            .name = "mine",
                            .sha256 = sha256("prk_mine"),
                            .scope = KeyScope::tenant,
                            .tenant_id = "mine",
                            .created_at = {}});
  EXPECT_EQ(world_.call("GET", path(theirs), "", {{"authorization", "Bearer prk_mine"}}).status,
            404);
}

}  // namespace
}  // namespace postrider::api
