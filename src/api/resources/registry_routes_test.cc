// API keys, tenants and their limits through the router.
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::seconds;

ApiWorld::Pairs with_key(const std::string& key) { return {{"authorization", "Bearer " + key}}; }

TEST(ApiKeyRoutes, KeyIsShownOnceAndWorksImmediately) {
  ApiWorld world;
  const Answer made = world.call("POST", "/v1/api-keys", R"({"name":"ci","scope":"read"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string key = made.at("key");
  EXPECT_TRUE(key.starts_with("prk_"));
  EXPECT_EQ(made.header("Cache-Control"), "no-store");
  EXPECT_EQ(made.header("Location"), "/v1/api-keys/" + made.at("id"));
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with_key(key)).status, 200);
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"a","data":1})", with_key(key)).status,
            403);

  const Answer shown = world.call("GET", "/v1/api-keys/" + made.at("id"));
  EXPECT_EQ(shown.at("name"), "ci");
  EXPECT_EQ(shown.at("scope"), "read");
  EXPECT_EQ(shown.at("tenant_id"), "null");
  EXPECT_EQ(shown.at("key"), "(none)");
  EXPECT_EQ(shown.at("last_used_at"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(world.call("GET", "/v1/api-keys").body.find(key), std::string::npos);

  EXPECT_EQ(world.call("DELETE", "/v1/api-keys/" + made.at("id")).status, 204);
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with_key(key)).status, 401);
  EXPECT_EQ(world.call("DELETE", "/v1/api-keys/" + made.at("id")).status, 404);
}

TEST(ApiKeyRoutes, InvalidBodyNamesTheField) {
  ApiWorld world;
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "scope"},
      {R"({"scope":"root"})", "scope"},
      {R"({"scope":"tenant"})", "tenant_id"},
      {R"({"scope":"read","tenant_id":"t"})", "tenant_id"},
      {R"({"scope":"read","role":"viewer"})", "role"},
      {R"({"scope":"tenant","tenant_id":"t","role":"owner"})", "role"},
      {R"({"scope":"read","expires_at":"2025-12-31T23:59:59Z"})", "expires_at"},
      {R"({"scope":"read","expires_at":"tomorrow"})", "expires_at"},
      {R"({"scope":"read","name":5})", "name"},
      {R"({"scope":"read","sha256":"x"})", "sha256"}};
  for (const auto& [body, field] : cases) {
    const Answer answer = world.call("POST", "/v1/api-keys", body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_EQ(answer.at("errors.0.field"), field) << body;
  }
}

TEST(ApiKeyRoutes, KeyExpires) {
  ApiWorld world;
  const Answer made = world.call("POST", "/v1/api-keys",
                                 R"({"scope":"admin","expires_at":"2026-01-01T00:00:10Z"})");
  EXPECT_EQ(made.status, 201) << made.body;
  world.service().moment.wall += seconds{9};
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with_key(made.at("key"))).status, 200);
  world.service().moment.wall += seconds{1};
  const Answer late = world.call("GET", "/v1/webhooks", "", with_key(made.at("key")));
  EXPECT_EQ(late.status, 401);
  EXPECT_EQ(late.at("detail"),
            "This API key expired at 2026-01-01T00:00:10.000Z. Use another key.");
}

TEST(ApiKeyRoutes, RejectsDeletingTheLastPermanentAdminKey) {
  ApiWorld world;
  const std::string first = world.call("GET", "/v1/api-keys").at("data.0.id");
  const Answer refused = world.call("DELETE", "/v1/api-keys/" + first);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.at("code"), "last_admin_key");
  const Answer passing = world.call("POST", "/v1/api-keys",
                                    R"({"scope":"admin","expires_at":"2027-01-01T00:00:00Z"})");
  EXPECT_EQ(world.call("DELETE", "/v1/api-keys/" + first).status, 409);
  EXPECT_EQ(world.call("DELETE", "/v1/api-keys/" + passing.at("id")).status, 204);
  const Answer second = world.call("POST", "/v1/api-keys", R"({"scope":"admin"})");
  EXPECT_EQ(world.call("DELETE", "/v1/api-keys/" + first).status, 204);
  EXPECT_EQ(world.call("DELETE", "/v1/api-keys/" + second.at("id"), "", with_key(second.at("key")))
                .status,
            409);
}

TEST(ApiKeyRoutes, ListIsPaged) {
  ApiWorld world;
  for (int i = 0; i < 4; ++i) {
    world.call("POST", "/v1/api-keys", R"({"scope":"read"})");
  }
  const Answer first = world.call("GET", "/v1/api-keys?limit=3");
  EXPECT_NE(first.at("data.2.id"), "(none)");
  const Answer second = world.call("GET", "/v1/api-keys?cursor=" + first.at("next_cursor"));
  EXPECT_EQ(second.at("data.1.name"), "admin");
  EXPECT_EQ(second.at("next_cursor"), "null");
  EXPECT_EQ(world.call("GET", "/v1/api-keys?offset=3").body, second.body);
  EXPECT_EQ(world.call("GET", "/v1/tenants?cursor=" + first.at("next_cursor")).status, 400);
  EXPECT_EQ(world.call("GET", "/v1/api-keys?scope=read").status, 400);
}

TEST(TenantRoutes, RegistersShowsAndDeletesATenant) {
  ApiWorld world;
  const Answer made =
      world.call("POST", "/v1/tenants",
                 R"({"id":"acme","name":"Acme","metadata":{"plan": "gold"},"pool":"blue"})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("Location"), "/v1/tenants/acme");
  EXPECT_EQ(world.call("GET", "/v1/tenants/acme").body, made.body);
  EXPECT_EQ(made.at("metadata.plan"), "gold");
  EXPECT_EQ(made.at("limits.webhooks_max"), "null");
  EXPECT_EQ(world.call("POST", "/v1/tenants", R"({"id":"acme"})").at("code"), "tenant_exists");
  const Answer unnamed = world.call("POST", "/v1/tenants", "{}");
  EXPECT_TRUE(unnamed.at("id").starts_with("tnt_")) << unnamed.body;
  EXPECT_EQ(world.call("GET", "/v1/tenants").at("data.1.id"), "acme");
  EXPECT_EQ(world.call("DELETE", "/v1/tenants/acme").status, 204);
  EXPECT_EQ(world.call("GET", "/v1/tenants/acme").status, 404);
  EXPECT_EQ(world.call("DELETE", "/v1/tenants/acme").status, 404);
  for (const char* id : {"", "..", "a/b", "a b", "ü"}) {
    EXPECT_EQ(world.call("POST", "/v1/tenants", R"({"id":")" + std::string{id} + R"("})").status,
              422)
        << id;
  }
}

TEST(TenantRoutes, DeletesATenantWithWebhooksOnlyWithForce) {
  ApiWorld world;
  world.call("POST", "/v1/tenants", R"({"id":"acme"})");
  const std::string webhook = world.make_webhook(R"("tenant_id":"acme")");
  const std::string kept = world.make_webhook(R"("tenant_id":"other")");
  const std::string delivery =
      world.delivery_of(world.publish(R"({"type":"a","data":1,"tenant_id":"acme"})"));
  const std::string key =
      world.call("POST", "/v1/api-keys", R"({"scope":"tenant","tenant_id":"acme"})").at("key");
  const Answer refused = world.call("DELETE", "/v1/tenants/acme");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.at("code"), "tenant_has_webhooks");
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with_key(key)).status, 200);

  EXPECT_EQ(world.call("DELETE", "/v1/tenants/acme?force=true").status, 204);
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + webhook).status, 404);
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + kept).status, 200);
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + delivery).at("status"), "cancelled");
  EXPECT_EQ(world.call("GET", "/v1/webhooks", "", with_key(key)).status, 401);
  const Answer log = world.call("GET", "/v1/audit-log?tenant_id=acme&limit=2");
  EXPECT_EQ(log.at("data.0.action"), "tenant.delete");
  EXPECT_EQ(log.at("data.1.action"), "webhook.delete");
  EXPECT_EQ(log.at("data.1.subject"), webhook);
}

TEST(TenantRoutes, LimitsAreMergedAndNullRemovesThem) {
  ApiWorld world;
  world.call("POST", "/v1/tenants", R"({"id":"acme"})");
  const std::string path = "/v1/tenants/acme/limits";
  EXPECT_EQ(world.call("PUT", path, R"({"webhooks_max":3,"events_per_minute":60})").status, 200);
  const std::string rest = R"({"webhooks_max":null,"events_per_minute":60,)"
                           R"("timeout_ms_max":null,"max_in_flight_max":null})";
  EXPECT_EQ(world.call("PUT", path, R"({"webhooks_max":null})").body, rest);
  EXPECT_EQ(world.call("GET", path).body, rest);
  EXPECT_EQ(world.call("PUT", path, R"({"webhooks_max":-1})").at("errors.0.field"), "webhooks_max");
  EXPECT_EQ(world.call("PUT", path, R"({"rate":1})").at("code"), "unknown_field");
  EXPECT_EQ(world.call("PUT", "/v1/tenants/nobody/limits", "{}").status, 404);
}

TEST(TenantRoutes, EnforcesTheWebhookLimit) {
  ApiWorld world;
  world.call("POST", "/v1/tenants", R"({"id":"acme"})");
  world.call("PUT", "/v1/tenants/acme/limits", R"({"webhooks_max":2})");
  const std::string first = world.make_webhook(R"("tenant_id":"acme")");
  world.make_webhook(R"("tenant_id":"acme")");
  const std::string body = R"({"url":"https://example.com/","events":["*"],"tenant_id":"acme"})";
  const Answer refused = world.call("POST", "/v1/webhooks", body);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.at("code"), "webhook_quota_exceeded");
  EXPECT_NE(refused.at("detail").find("PUT /v1/tenants/{id}/limits"), std::string::npos);
  world.make_webhook(R"("tenant_id":"other")");
  EXPECT_EQ(world.call("PATCH", "/v1/webhooks/" + first, R"({"name":"n"})").status, 200);
  EXPECT_EQ(world.call("DELETE", "/v1/webhooks/" + first).status, 204);
  EXPECT_EQ(world.call("POST", "/v1/webhooks", body).status, 201);
}

TEST(TenantRoutes, TakesTheEventQuotaBeforeStoring) {
  ApiWorld world;
  world.call("POST", "/v1/tenants", R"({"id":"acme"})");
  world.call("PUT", "/v1/tenants/acme/limits", R"({"events_per_minute":3})");
  const std::string event = R"({"type":"a","data":1,"tenant_id":"acme"})";
  const std::string three = "[" + event + "," + event + "," + event + "]";
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202);
  const Answer batch = world.call("POST", "/v1/events/batch", three);
  EXPECT_EQ(batch.status, 429) << batch.body;
  EXPECT_EQ(batch.at("code"), "event_quota_exceeded");
  EXPECT_EQ(batch.header("Retry-After"), "20");
  EXPECT_EQ(world.call("GET", "/v1/events").at("data.1"), "(none)");
  world.publish(R"({"type":"a","data":1,"tenant_id":"other"})");
  world.publish(event);
  world.publish(event);
  EXPECT_EQ(world.call("POST", "/v1/events", event).header("Retry-After"), "20");
  world.service().moment.mono += seconds{20};
  world.publish(event);
  EXPECT_EQ(world.call("POST", "/v1/events/batch", "[" + event + "," + three.substr(1)).at("code"),
            "batch_exceeds_quota");
}

TEST(TenantRoutes, RejectsUnknownTenantsIfRequired) {
  ApiWorld world{[](ApiOptions& options) { options.require_known_tenants = true; }};
  const std::string event = R"({"type":"a","data":1,"tenant_id":"acme"})";
  const std::string webhook = R"({"url":"https://example.com/","events":["*"],"tenant_id":"acme"})";
  EXPECT_EQ(world.call("POST", "/v1/events", event).at("code"), "unknown_tenant");
  EXPECT_EQ(world.call("POST", "/v1/events/batch", "[" + event + "]").at("code"), "unknown_tenant");
  EXPECT_EQ(world.call("POST", "/v1/webhooks", webhook).at("errors.0.field"), "tenant_id");
  const std::string key = R"({"scope":"tenant","tenant_id":"acme"})";
  const std::string link = R"({"tenant_id":"acme"})";
  EXPECT_EQ(world.call("POST", "/v1/api-keys", key).at("code"), "unknown_tenant");
  EXPECT_EQ(world.call("POST", "/v1/portal-links", link).at("code"), "unknown_tenant");
  world.call("POST", "/v1/tenants", R"({"id":"acme"})");
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202);
  EXPECT_EQ(world.call("POST", "/v1/webhooks", webhook).status, 201);
  EXPECT_EQ(world.call("POST", "/v1/api-keys", key).status, 201);
  EXPECT_EQ(world.call("POST", "/v1/portal-links", link).status, 201);
}

TEST(ApiKeyRoutes, OnlyATenantsKeyHasARole) {
  ApiWorld world;
  const auto role_of = [&](const std::string& body) {
    const Answer made = world.call("POST", "/v1/api-keys", body);
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(world.call("GET", "/v1/api-keys/" + made.at("id")).at("role"), made.at("role"));
    return made.at("role");
  };
  EXPECT_EQ(role_of(R"({"scope":"tenant","tenant_id":"t"})"), "admin");
  EXPECT_EQ(role_of(R"({"scope":"tenant","tenant_id":"t","role":"admin"})"), "admin");
  EXPECT_EQ(role_of(R"({"scope":"read","role":null})"), "null");
  EXPECT_EQ(role_of(R"({"scope":"tenant","tenant_id":"t","role":"viewer"})"), "viewer");
  const Answer log = world.call("GET", "/v1/audit-log");
  EXPECT_EQ(log.at("data.0.detail.role"), "viewer");
}

class SuspendedTenant : public testing::Test {
 protected:
  SuspendedTenant() {
    EXPECT_EQ(world_.call("POST", "/v1/tenants", R"({"id":"acme"})").status, 201);
    webhook_ = world_.make_webhook(R"("tenant_id":"acme")");
    key_ =
        world_.call("POST", "/v1/api-keys", R"({"scope":"tenant","tenant_id":"acme"})").at("key");
  }
  Answer suspend(const std::string& body = "") {
    return world_.call("POST", "/v1/tenants/acme/suspend", body);
  }
  Answer resume() { return world_.call("POST", "/v1/tenants/acme/resume"); }

  ApiWorld world_;
  std::string webhook_;
  std::string key_;
};

TEST_F(SuspendedTenant, IsShownAndAudited) {
  EXPECT_EQ(world_.call("GET", "/v1/tenants/acme").at("suspended_at"), "null");
  const Answer suspended = suspend(R"({"reason":"unpaid"})");
  ASSERT_EQ(suspended.status, 200) << suspended.body;
  EXPECT_EQ(suspended.at("suspended_at"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(suspended.at("suspended_reason"), "unpaid");
  EXPECT_EQ(world_.call("GET", "/v1/tenants/acme").body, suspended.body);
  EXPECT_EQ(world_.call("GET", "/v1/audit-log").at("data.0.action"), "tenant.suspend");
  EXPECT_EQ(world_.call("GET", "/v1/audit-log").at("data.0.detail.reason"), "unpaid");
  EXPECT_EQ(suspend().body, suspended.body) << "the first reason stays";
  const Answer resumed = resume();
  EXPECT_EQ(resumed.at("suspended_at"), "null");
  EXPECT_EQ(resumed.at("suspended_reason"), "null");
  EXPECT_EQ(world_.call("GET", "/v1/audit-log").at("data.0.action"), "tenant.resume");
  EXPECT_EQ(resume().body, resumed.body);
}

TEST_F(SuspendedTenant, PublishesNothingWithAnyKey) {
  const std::string event = R"({"type":"a.b","data":1,"tenant_id":"acme","idempotency_key":"k"})";
  EXPECT_EQ(world_.call("POST", "/v1/events", event).status, 202);
  (void)suspend();
  const std::size_t events = world_.service().store.events.size();
  for (const auto& headers : {ApiWorld::Pairs{}, with_key(key_)}) {
    const Answer refused = world_.call("POST", "/v1/events", event, headers);
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(refused.at("code"), "tenant_suspended");
    const std::string other = R"({"type":"a.b","data":1,"tenant_id":"other"})";
    const std::string batch = "[" + (headers.empty() ? other + "," : "") + event + "]";
    EXPECT_EQ(world_.call("POST", "/v1/events/batch", batch, headers).status, 403);
    for (const char* action : {"/test", "/verify"}) {
      const Answer sent = world_.call("POST", "/v1/webhooks/" + webhook_ + action, "", headers);
      EXPECT_EQ(sent.at("code"), "tenant_suspended") << action << sent.body;
    }
  }
  EXPECT_EQ(world_.service().store.events.size(), events);
  const Answer each = world_.call("POST", "/v1/events/batch?atomic=false",
                                  "[" + event + R"(,{"type":"a.b","data":1}])");
  EXPECT_EQ(each.at("accepted"), "1");
  EXPECT_EQ(each.at("results.0.status"), "403");
  EXPECT_EQ(each.at("results.0.code"), "tenant_suspended");
  (void)resume();
  EXPECT_NE(world_.call("POST", "/v1/events", event).at("code"), "tenant_suspended");
}

TEST_F(SuspendedTenant, HasNoPortalButItsKeysRead) {
  const std::string tenant = R"({"tenant_id":"acme"})";
  const auto token = [&] {
    const Answer link = world_.call("POST", "/v1/portal-links", tenant);
    return R"({"token":")" + link.at("token") + R"("})";
  };
  const ApiWorld::Pairs portal = world_.sign_in(token());
  const std::string unused = token();
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", portal).status, 200);
  (void)suspend();
  for (const Answer& refused :
       {world_.call("GET", "/v1/webhooks", "", portal),
        world_.call("POST", "/v1/portal-links", tenant),
        world_.call("POST", "/v1/sessions", unused, {{"content-type", "application/json"}})}) {
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(refused.at("code"), "tenant_suspended");
  }
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", with_key(key_)).status, 200);
  (void)resume();
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", portal).status, 200);
  EXPECT_FALSE(world_.sign_in(unused).empty());
}

TEST_F(SuspendedTenant, ARepeatedRequestDoesNotSuspendAgain) {
  const ApiWorld::Pairs key = {{"idempotency-key", "k"}};
  const Answer first = world_.call("POST", "/v1/tenants/acme/suspend", "{}", key);
  ASSERT_EQ(first.status, 200) << first.body;
  (void)resume();
  const Answer repeated = world_.call("POST", "/v1/tenants/acme/suspend", "{}", key);
  EXPECT_EQ(repeated.status, 200) << repeated.body;
  EXPECT_EQ(repeated.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(repeated.at("suspended_at"), "null");
}

TEST_F(SuspendedTenant, UnknownTenantsAndBodiesAreRejected) {
  EXPECT_EQ(world_.call("POST", "/v1/tenants/nobody/suspend").status, 404);
  EXPECT_EQ(world_.call("POST", "/v1/tenants/nobody/resume").status, 404);
  EXPECT_EQ(suspend(R"({"reason":5})").at("errors.0.field"), "reason");
  EXPECT_EQ(suspend(R"({"why":"x"})").at("errors.0.field"), "why");
  for (const auto& headers : {with_key(key_)}) {
    EXPECT_EQ(world_.call("POST", "/v1/tenants/acme/suspend", "", headers).status, 403);
    EXPECT_EQ(world_.call("POST", "/v1/tenants/acme/resume", "", headers).status, 403);
  }
}

}  // namespace
}  // namespace postrider::api
