// The audit log and portal links through the router.
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::seconds;

TEST(AuditRoutes, LogsEveryChangeWithoutSecrets) {
  ApiWorld world;
  const std::string webhook = world.make_webhook(R"("tenant_id":"acme")");
  const std::string path = "/v1/webhooks/" + webhook;
  world.call("PATCH", path, R"({"secret":"hunter2hunter2hunter2hunter2","name":"n"})");
  world.call("POST", path + "/pause");
  world.call("POST", path + "/resume");
  world.call("PATCH", path + "/circuit-breaker", R"({"action":"force_open","duration_seconds":9})");
  const std::string delivery =
      world.delivery_of(world.publish(R"({"type":"a","data":1,"tenant_id":"acme"})"));
  world.call("POST", "/v1/deliveries/" + delivery + "/cancel");
  world.call("POST", "/v1/deliveries/" + delivery + "/cancel");  // Finished already: no entry.
  world.call("POST", "/v1/deliveries/" + delivery + "/retry");
  world.call("DELETE", path);

  const Answer log = world.call("GET", "/v1/audit-log?tenant_id=acme");
  const char* const actions[] = {"webhook.delete",  "delivery.retry", "delivery.cancel",
                                 "webhook.circuit", "webhook.resume", "webhook.pause",
                                 "webhook.update",  "webhook.create"};
  for (std::size_t i = 0; i < std::size(actions); ++i) {
    EXPECT_EQ(log.at("data." + std::to_string(i) + ".action"), actions[i]);
  }
  EXPECT_EQ(log.at("data.8"), "(none)");
  EXPECT_EQ(log.at("data.6.detail.fields"), R"(["secret","name"])");
  EXPECT_EQ(log.at("data.3.detail"), R"({"action":"force_open","duration_seconds":9})");
  EXPECT_EQ(log.at("data.6.actor_name"), "admin");
  EXPECT_EQ(log.at("data.6.subject"), webhook);
  EXPECT_EQ(log.at("data.6.at"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(log.body.find("hunter2"), std::string::npos);
  EXPECT_EQ(world.call("GET", "/v1/audit-log?action=webhook.pause").at("data.1"), "(none)");
  EXPECT_EQ(world.call("GET", "/v1/audit-log?subject=" + delivery).at("data.1.action"),
            "delivery.cancel");
  EXPECT_EQ(world.call("GET", "/v1/audit-log?from=2026-01-01T00:00:00.001Z").at("data"), "[]");
}

TEST(AuditRoutes, VerifiesTheChainAndReportsATamperedEntry) {
  ApiWorld world;
  for (int i = 0; i < 3; ++i) {
    world.make_webhook();
  }
  const Answer holds = world.call("GET", "/v1/audit-log/verify");
  EXPECT_EQ(holds.at("holds"), "true");
  EXPECT_EQ(holds.at("checked"), "4");  // The admin key is the first.
  EXPECT_EQ(holds.at("head"), world.call("GET", "/v1/audit-log?limit=1").at("data.0.hash"));
  EXPECT_EQ(world.call("GET", "/v1/audit-log/verify?after=2").at("checked"), "2");
  EXPECT_EQ(world.call("GET", "/v1/audit-log/verify?after=9").status, 404);

  auto& audit = world.service().store.audit;
  const auto original = audit;
  audit[2].entry.actor_name = "someone else";
  EXPECT_EQ(world.call("GET", "/v1/audit-log/verify").at("broken_at"), "3");
  audit = original;
  audit.erase(audit.begin() + 1);
  EXPECT_EQ(world.call("GET", "/v1/audit-log/verify").at("holds"), "false");
  EXPECT_EQ(world.call("GET", "/v1/audit-log/verify").at("broken_at"), "2");
}

}  // namespace
}  // namespace postrider::api
