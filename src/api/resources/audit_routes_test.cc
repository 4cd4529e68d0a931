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

TEST(PortalRoutes, LinkOpensOneSessionOfItsTenant) {
  ApiWorld world;
  const std::string mine = world.make_webhook(R"("tenant_id":"acme")");
  world.make_webhook(R"("tenant_id":"other")");
  const Answer link =
      world.call("POST", "/v1/portal-links", R"({"tenant_id":"acme","session_seconds":60})",
                 {{"host", "192.0.2.1:8080"}});
  ASSERT_EQ(link.status, 201) << link.body;
  const std::string token = link.at("token");
  EXPECT_EQ(link.at("url"), "http://192.0.2.1:8080/#portal=" + token);
  EXPECT_EQ(link.at("expires_at"), "2026-01-01T00:05:00.000Z");

  const std::string body = R"({"token":")" + token + R"("})";
  const Answer session =
      world.call("POST", "/v1/portal-sessions", body, {{"authorization", "none"}});
  ASSERT_EQ(session.status, 201) << session.body;
  EXPECT_EQ(session.at("tenant_id"), "acme");
  EXPECT_EQ(session.at("expires_at"), "2026-01-01T00:01:00.000Z");
  const ApiWorld::Pairs key = {{"authorization", "Bearer " + session.at("key")}};
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", key).at("data.0.id"), mine);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", key).at("data.1"), "(none)");
  const Answer again = world.call("POST", "/v1/portal-sessions", body);
  EXPECT_EQ(again.status, 410);
  EXPECT_EQ(again.at("code"), "portal_link_spent");
  world.service().moment.wall += seconds{60};
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", key).status, 401);
}

TEST(PortalRoutes, LinksHaveTheListenersSchemeOrThePublicUrl) {
  const std::string body = R"({"tenant_id":"acme"})";
  const ApiWorld::Pairs host = {{"host", "hooks.example"}, {"x-forwarded-proto", "https"}};
  ApiWorld plain;
  EXPECT_EQ(plain.call("POST", "/v1/portal-links", body, host).at("code"), "unknown_host");
  ApiWorld secure{[](ApiOptions& options) { options.tls = true; }};
  EXPECT_TRUE(secure.call("POST", "/v1/portal-links", body, {{"host", "localhost:1"}})
                  .at("url")
                  .starts_with("https://localhost:1/#"));
  ApiWorld named{[](ApiOptions& options) { options.public_url = "https://p.example/"; }};
  EXPECT_TRUE(named.call("POST", "/v1/portal-links", body, host)
                  .at("url")
                  .starts_with("https://p.example/#"));
}

TEST(PortalRoutes, RefusesAndRemovesExpiredLinksAndSessions) {
  ApiWorld world;
  const std::string make = R"({"tenant_id":"acme","expires_in_seconds":5,"session_seconds":5})";
  const std::string first = world.call("POST", "/v1/portal-links", make).at("token");
  const std::string second = world.call("POST", "/v1/portal-links", make).at("token");
  EXPECT_EQ(world.call("POST", "/v1/portal-sessions", R"({"token":")" + first + R"("})").status,
            201);
  world.service().moment.wall += seconds{5};
  const Answer late = world.call("POST", "/v1/portal-sessions", R"({"token":")" + second + R"("})");
  EXPECT_EQ(late.status, 410);
  EXPECT_EQ(world.service().store.links.size(), 1u);
  world.call("POST", "/v1/portal-links", make);
  EXPECT_EQ(world.service().store.links.size(), 1u);
  EXPECT_EQ(world.service().store.api_keys.size(), 1u);  // The admin's.
}

TEST(PortalRoutes, InvalidBodyNamesTheField) {
  ApiWorld world;
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "tenant_id"},
      {R"({"tenant_id":""})", "tenant_id"},
      {R"({"tenant_id":"t","expires_in_seconds":0})", "expires_in_seconds"},
      {R"({"tenant_id":"t","expires_in_seconds":301})", "expires_in_seconds"},
      {R"({"tenant_id":"t","session_seconds":3601})", "session_seconds"},
      {R"({"tenant_id":"t","url":"x"})", "url"}};
  for (const auto& [body, field] : cases) {
    const Answer answer = world.call("POST", "/v1/portal-links", body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_EQ(answer.at("errors.0.field"), field) << body;
  }
  EXPECT_EQ(world.call("POST", "/v1/portal-sessions", "{}").at("errors.0.field"), "token");
  EXPECT_EQ(world.call("POST", "/v1/portal-sessions", R"({"token":"prp_no"})").status, 410);
}

}  // namespace
}  // namespace postrider::api
