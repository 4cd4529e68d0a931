// Requests on one of several servers that share a store.
#include <gtest/gtest.h>

#include "adapters/openssl/digest.h"
#include "api/resources/api_world_test.h"
#include "api/resources/catch_ups.h"
#include "runtime/store/outdated_publish.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using test::MemoryService;

constexpr const char* new_key = "pk_made_elsewhere";
constexpr const char* simple_event = R"({"type":"a","data":1})";

ApiWorld::Pairs with_key(const std::string& key) { return {{"authorization", "Bearer " + key}}; }

ApiKey make_key(const std::string& text, KeyScope scope = KeyScope::admin) {
  ApiKey key{.id = {}, .name = "new", .sha256 = sha256(text), .scope = scope, .created_at = {}};
  key.id = KeyId{Uuid{1}};
  return key;
}

class SharedStoreRoutes : public testing::Test {
 protected:
  SharedStoreRoutes() { service().shared = true; }

  MemoryService& service() { return world_.service(); }

  /// Another server carries out the request before this one catches up.
  std::function<void()> elsewhere(std::string method, std::string target, std::string body) {
    return [this, method = std::move(method), target = std::move(target), body = std::move(body)] {
      service().shared = false;
      const Answer answer = world_.call_within(method, target, body, {});
      EXPECT_LT(answer.status, 300) << answer.body;
      service().shared = true;
    };
  }
  void here(std::string method, std::string target, std::string body = "{}") {
    elsewhere(std::move(method), std::move(target), std::move(body))();
  }
  Answer publish(ApiWorld::Pairs headers = {}) {
    return world_.call("POST", "/v1/events", simple_event, std::move(headers));
  }
  std::size_t stored_events() { return service().store.events.size(); }

  ApiWorld world_;
};

TEST_F(SharedStoreRoutes, AReadSeesWhatAnotherServerHasAnswered) {
  service().on_catch_up = elsewhere("POST", "/v1/tenants", R"({"id":"t"})");
  EXPECT_EQ(world_.call("GET", "/v1/tenants/t").status, 200);
  EXPECT_EQ(service().catch_ups, 1u);
}

TEST_F(SharedStoreRoutes, AKeyIsCheckedAfterCatchingUp) {
  service().on_catch_up = [this] { service().add_key(make_key(new_key)); };
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", with_key(new_key)).status, 200);
  EXPECT_EQ(service().catch_ups, 1u);

  service().on_catch_up = [this] { service().apply_now(RemoveKey{make_key(new_key).id}); };
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", with_key(new_key)).status, 401);
  EXPECT_EQ(service().catch_ups, 2u);
}

TEST_F(SharedStoreRoutes, AKeyThatChangedItsScopeIsCheckedAfterCatchingUp) {
  service().add_key(make_key(new_key, KeyScope::read));
  service().on_catch_up = [this] { service().add_key(make_key(new_key)); };
  EXPECT_EQ(world_.call("GET", "/v1/api-keys", "", with_key(new_key)).status, 200);
}

TEST_F(SharedStoreRoutes, PublishesAndProbesDoNotWait) {
  EXPECT_EQ(publish().status, 202);
  EXPECT_EQ(world_.call("POST", "/v1/events/batch", R"([{"type":"a","data":1}])").status, 202);
  for (const char* path : {"/healthz", "/readyz", "/metrics", "/openapi.json", "/"}) {
    (void)world_.call("GET", path);
  }
  EXPECT_EQ(service().catch_ups, 0u);
}

TEST_F(SharedStoreRoutes, AnUnsharedStoreIsNeverWaitedFor) {
  service().shared = false;
  EXPECT_EQ(world_.call("GET", "/v1/webhooks").status, 200);
  EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", with_key("unknown")).status, 401);
  EXPECT_EQ(publish(with_key("unknown")).status, 401);
  EXPECT_EQ(service().catch_ups, 0u);
}

TEST_F(SharedStoreRoutes, APublishWithAKeyMadeElsewhereIsAccepted) {
  service().on_catch_up = [this] { service().add_key(make_key(new_key, KeyScope::publish)); };
  EXPECT_EQ(publish(with_key(new_key)).status, 202);
  EXPECT_EQ(service().catch_ups, 1u);
}

TEST_F(SharedStoreRoutes, ClientsWithoutAKeyCannotCauseMoreWaitsThanTheirLimit) {
  for (int number = 0; number < 100; ++number) {
    EXPECT_EQ(world_.call("GET", "/v1/webhooks", "", with_key("unknown")).status, 401);
    EXPECT_EQ(publish(with_key("unknown")).status, 401);
    EXPECT_EQ(world_
                  .call("POST", "/v1/sessions", R"({"key":"unknown"})",
                        {{"content-type", "application/json"}})
                  .status,
              401);
  }
  EXPECT_EQ(service().catch_ups, fruitless_catch_ups.burst);
  EXPECT_EQ(world_.call("GET", "/v1/webhooks").status, 200) << "with a key it waits as always";
  EXPECT_EQ(service().catch_ups, fruitless_catch_ups.burst + 1);
}

TEST_F(SharedStoreRoutes, UsingManyNewKeysIsNotLimited) {
  for (std::uint32_t number = 0; number < 2 * fruitless_catch_ups.burst; ++number) {
    const std::string text = "pk_" + std::to_string(number);
    service().on_catch_up = [this, text] { service().add_key(make_key(text)); };
    EXPECT_EQ(publish(with_key(text)).status, 202);
  }
}

TEST_F(SharedStoreRoutes, AnOutdatedPublishIsPlannedAgain) {
  service().outdated_publishes = 2;
  service().on_outdated =
      elsewhere("POST", "/v1/webhooks", R"({"url":"https://example.com/","events":["*"]})");
  const Answer answer = publish();
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.at("deliveries"), "1");
  EXPECT_EQ(stored_events(), 1u);
  EXPECT_EQ(service().catch_ups, 0u);
}

TEST_F(SharedStoreRoutes, AnOutdatedBatchIsPlannedAgain) {
  for (const char* target : {"/v1/events/batch", "/v1/events/batch?atomic=false"}) {
    service().outdated_publishes = 1;
    const Answer answer =
        world_.call("POST", target, R"([{"type":"a","data":1},{"type":"b","data":2}])");
    EXPECT_EQ(answer.status, 202);
    EXPECT_EQ(answer.at("accepted"), "2");
  }
  EXPECT_EQ(stored_events(), 4u);
}

TEST_F(SharedStoreRoutes, APublishIsRefusedIfItsKeyWasRevokedMeanwhile) {
  service().add_key(make_key(new_key));
  service().outdated_publishes = 1;
  service().on_outdated = [this] { service().apply_now(RemoveKey{make_key(new_key).id}); };
  EXPECT_EQ(publish(with_key(new_key)).status, 401);
  EXPECT_EQ(stored_events(), 0u);
}

TEST_F(SharedStoreRoutes, APublishIsRefusedIfItsTenantWasSuspendedMeanwhile) {
  here("POST", "/v1/tenants", R"({"id":"t"})");
  service().outdated_publishes = 1;
  service().on_outdated = elsewhere("POST", "/v1/tenants/t/suspend", "");
  const Answer answer =
      world_.call("POST", "/v1/events", R"({"tenant_id":"t","type":"a","data":1})");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.at("code"), "tenant_suspended");
  EXPECT_EQ(stored_events(), 0u);
}

TEST_F(SharedStoreRoutes, APublishIsCheckedWithASchemaThatArrivedMeanwhile) {
  service().outdated_publishes = 1;
  service().on_outdated =
      elsewhere("POST", "/v1/event-types", R"({"name":"a","schema":{"forbid":"1"}})");
  const Answer answer = publish();
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.at("code"), "schema_violation");
  EXPECT_EQ(stored_events(), 0u);
}

TEST_F(SharedStoreRoutes, APublishGivesUpWhenTheCatalogueNeverStopsChanging) {
  service().outdated_publishes = 1'000;
  const Answer answer = publish();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.at("code"), "unavailable");
  EXPECT_EQ(answer.header("Retry-After"), "1");
  EXPECT_EQ(service().outdated_publishes, 1'000u - publish_tries_max);
  service().outdated_publishes = publish_tries_max - 1;
  EXPECT_EQ(publish().status, 202);
}

TEST_F(SharedStoreRoutes, AnEventIsTakenFromItsQuotaOnce) {
  here("POST", "/v1/tenants", R"({"id":"t"})");
  here("PUT", "/v1/tenants/t/limits", R"({"events_per_minute":2})");
  const std::string event = R"({"tenant_id":"t","type":"a","data":1})";
  for (const int status : {202, 202, 429}) {
    service().outdated_publishes = 5;
    EXPECT_EQ(world_.call("POST", "/v1/events", event).status, status);
  }
  EXPECT_EQ(stored_events(), 2u);
}

TEST_F(SharedStoreRoutes, TheEventsOfABatchAreTakenFromTheirQuotaOnce) {
  here("POST", "/v1/tenants", R"({"id":"t"})");
  here("PUT", "/v1/tenants/t/limits", R"({"events_per_minute":3})");
  const std::string event = R"({"tenant_id":"t","type":"a","data":1})";
  service().outdated_publishes = 1;
  EXPECT_EQ(world_.call("POST", "/v1/events/batch", "[" + event + "]").status, 202);
  service().outdated_publishes = 1;
  const Answer answer = world_.call("POST", "/v1/events/batch?atomic=false",
                                    "[" + event + "," + event + "," + event + "]");
  EXPECT_EQ(answer.at("results.0.status"), "202");
  EXPECT_EQ(answer.at("results.1.status"), "202");
  EXPECT_EQ(answer.at("results.2.status"), "429");
  EXPECT_EQ(answer.at("accepted"), "2");
}

TEST_F(SharedStoreRoutes, APublishIsNotRefusedForASuspensionThatHasEnded) {
  here("POST", "/v1/tenants", R"({"id":"t"})");
  here("POST", "/v1/tenants/t/suspend", "");
  service().on_catch_up = elsewhere("POST", "/v1/tenants/t/resume", "");
  const std::string event = R"({"tenant_id":"t","type":"a","data":1})";
  EXPECT_EQ(world_.call("POST", "/v1/events", event).status, 202);
  EXPECT_EQ(service().catch_ups, 1u);

  here("POST", "/v1/tenants/t/suspend", "");
  service().on_catch_up = elsewhere("POST", "/v1/tenants/t/resume", "");
  const Answer batch = world_.call("POST", "/v1/events/batch?atomic=false", "[" + event + "]");
  EXPECT_EQ(batch.at("results.0.status"), "202");
  EXPECT_EQ(service().catch_ups, 2u);
}

TEST_F(SharedStoreRoutes, APublisherThatIsRefusedCannotCauseMoreWaitsThanItsLimit) {
  here("POST", "/v1/tenants", R"({"id":"t"})");
  here("POST", "/v1/tenants/t/suspend", "");
  const std::string event = R"({"tenant_id":"t","type":"a","data":1})";
  for (int number = 0; number < 50; ++number) {
    EXPECT_EQ(world_.call("POST", "/v1/events", event).status, 403);
    const Answer batch = world_.call("POST", "/v1/events/batch?atomic=false",
                                     "[" + event + "," + simple_event + "]");
    EXPECT_EQ(batch.at("results.0.status"), "403");
    EXPECT_EQ(batch.at("results.1.status"), "202");
  }
  EXPECT_EQ(stored_events(), 50u);
  EXPECT_EQ(service().catch_ups, fruitless_catch_ups.burst);
}

TEST_F(SharedStoreRoutes, AMistakeInAnEventIsRefusedWithoutAWait) {
  EXPECT_EQ(world_.call("POST", "/v1/events", "{").status, 400);
  EXPECT_EQ(world_.call("POST", "/v1/events", R"({"type":"a"})").status, 422);
  EXPECT_EQ(service().catch_ups, 0u);
}

TEST_F(SharedStoreRoutes, ARequestIsCountedOnceByTheRateLimit) {
  ApiWorld world{[](ApiOptions& options) {
    options.key_rate = RateLimit{.count = 2, .period = Millis{60'000}, .burst = 2};
  }};
  world.service().shared = true;
  EXPECT_EQ(world.call("GET", "/v1/webhooks").status, 200);
  world.service().outdated_publishes = 5;
  EXPECT_EQ(world.call("POST", "/v1/events", simple_event).status, 202);
  EXPECT_EQ(world.call("GET", "/v1/webhooks").status, 429);
  EXPECT_EQ(world.service().catch_ups, 1u) << "a refused request costs no wait";
}

TEST_F(SharedStoreRoutes, ARepeatedRequestShowsWhatAnotherServerCreated) {
  const ApiWorld::Pairs headers{{"idempotency-key", "k"}};
  const std::string body = R"({"name":"b"})";
  const Answer first = world_.call("POST", "/v1/event-types", body, headers);
  ASSERT_EQ(first.status, 201) << first.body;
  // As if another server had carried it out after this one caught up to check the key.
  here("DELETE", "/v1/event-types/b");
  service().on_catch_up = [this, body] {
    service().on_catch_up = elsewhere("POST", "/v1/event-types", body);
  };
  const Answer again = world_.call("POST", "/v1/event-types", body, headers);
  EXPECT_EQ(again.status, 201) << again.body;
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
}

TEST_F(SharedStoreRoutes, ALinkThatWasRedeemedElsewhereIsSpent) {
  const Answer link = world_.call("POST", "/v1/sign-in-links", "{}");
  ASSERT_EQ(link.status, 201) << link.body;
  // This server has not heard of it yet.
  const Store store = make_memory_store(service().store);
  ApiKey session = make_key("session");
  session.session = SessionOrigin{.parent = service().access()->keys().begin()->first};
  ASSERT_TRUE(store.registry->apply(RedeemLink{sha256(link.at("token")), session}));
  const Answer answer =
      world_.call("POST", "/v1/sessions", R"({"token":")" + link.at("token") + R"("})",
                  {{"content-type", "application/json"}});
  EXPECT_EQ(answer.status, 410);
  EXPECT_EQ(answer.at("code"), "link_spent");
}

TEST(SharedStoreTenants, APublishForATenantRegisteredElsewhereIsAccepted) {
  ApiWorld world{[](ApiOptions& options) { options.require_known_tenants = true; }};
  world.service().shared = true;
  world.service().on_catch_up = [&world] {
    RegisteredTenant tenant;
    tenant.id = "t";
    world.service().apply_now(AddTenant{tenant});
  };
  const std::string event = R"({"tenant_id":"t","type":"a","data":1})";
  EXPECT_EQ(world.call("POST", "/v1/events", event).status, 202);
  const std::string other = R"({"tenant_id":"u","type":"a","data":1})";
  EXPECT_EQ(world.call("POST", "/v1/events", other).at("code"), "unknown_tenant");
}

}  // namespace
}  // namespace postrider::api
