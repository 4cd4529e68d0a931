// Idempotency keys of requests that create something, through the router.
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using namespace std::chrono_literals;
using Pairs = ApiWorld::Pairs;

const std::string webhook_body = R"({"url":"https://example.com/","events":["*"]})";

Pairs with_key(std::string key) { return {{"idempotency-key", std::move(key)}}; }

TEST(IdempotentRequest, RepeatedCreateShowsTheFirstWebhookWithoutItsSecret) {
  ApiWorld world;
  const Answer first = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  ASSERT_EQ(first.status, 201);
  EXPECT_NE(first.at("secret"), "(none)");
  EXPECT_EQ(first.header("Idempotent-Replayed"), "(none)");
  const Answer again = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.at("id"), first.at("id"));
  EXPECT_EQ(again.at("secret"), "(none)");
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.header("Location"), "/v1/webhooks/" + first.at("id"));
  EXPECT_EQ(world.service().store.webhooks.size(), 1u);
  EXPECT_EQ(world.call("POST", "/v1/webhooks", webhook_body, with_key("K")).status, 201);
  EXPECT_EQ(world.service().store.webhooks.size(), 2u);
}

/// The key of a concurrent request is on disk a moment before what it creates can be shown.
TEST(IdempotentRequest, WaitsForWhatAConcurrentRequestIsJustCreating) {
  ApiWorld world;
  const Answer first = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  std::string& subject = world.service().store.request_keys.begin()->second.use.subject;
  subject = WebhookId{{9}}.to_string();
  world.service().before_change = [&] { subject = first.at("id"); };
  const Answer again = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.at("id"), first.at("id"));
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(world.service().store.webhooks.size(), 1u);
}

TEST(IdempotentRequest, RejectsAnotherRequestWithTheSameKey) {
  ApiWorld world;
  const std::string other = R"({"url":"https://example.com/b","events":["*"]})";
  ASSERT_EQ(world.call("POST", "/v1/webhooks", webhook_body, with_key("k")).status, 201);
  const std::pair<std::string, std::string> requests[] = {
      {"/v1/webhooks", other},
      {"/v1/webhooks", "not even JSON"},
      {"/v1/event-types", R"({"name":"a.b"})"},
      {"/v1/api-keys", R"({"name":"a","scope":"read"})"}};
  for (const auto& [path, body] : requests) {
    const Answer refused = world.call("POST", path, body, with_key("k"));
    EXPECT_EQ(refused.status, 422) << path;
    EXPECT_EQ(refused.at("code"), "idempotency_key_reused") << path;
    EXPECT_EQ(refused.at("errors.0.field"), "Idempotency-Key") << path;
  }
  EXPECT_EQ(world.service().store.webhooks.size(), 1u);
}

TEST(IdempotentRequest, EveryCreatingRouteCreatesOnce) {
  ApiWorld world;
  const std::string webhook = world.make_webhook();
  struct Case {
    std::string method, target, body, id;
    int status;
  };
  const Case cases[] = {
      {"POST", "/v1/tenants", R"({"name":"no id of its own"})", "id", 201},
      {"POST", "/v1/api-keys", R"({"name":"a","scope":"read"})", "id", 201},
      {"POST", "/v1/event-types", R"({"name":"a.b"})", "name", 201},
      {"POST", "/v1/dlq/retry-batch", "{}", "id", 202},
      {"DELETE", "/v1/dlq?classification=permanent", "", "id", 202},
      {"POST", "/v1/webhooks/" + webhook + "/replay", R"({"since":"2025-12-31T00:00:00Z"})", "id",
       202},
  };
  int number = 0;
  for (const Case& c : cases) {
    const Pairs key = with_key("k" + std::to_string(++number));
    const Answer first = world.call(c.method, c.target, c.body, key);
    ASSERT_EQ(first.status, c.status) << c.target << first.body;
    ASSERT_NE(first.at(c.id), "(none)");
    world.service().moment.wall += 10ms;
    const Answer again = world.call(c.method, c.target, c.body, key);
    EXPECT_EQ(again.status, c.status) << c.target << again.body;
    EXPECT_EQ(again.at(c.id), first.at(c.id));
    EXPECT_EQ(again.at("key"), "(none)");  // Of an API key: shown once.
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(again.header("Location"), first.header("Location")) << c.target;
  }
  EXPECT_EQ(world.service().store.operations.size(), 3u);
  EXPECT_EQ(world.service().store.tenants.size(), 1u);
  EXPECT_EQ(world.service().store.api_keys.size(), 2u);  // And the admin's.
}

TEST(IdempotentRequest, PortalLinkIsCreatedOnceAndNotShownAgain) {
  ApiWorld world;
  ASSERT_EQ(world.call("POST", "/v1/tenants", R"({"id":"acme"})").status, 201);
  const std::string body = R"({"tenant_id":"acme"})";
  ASSERT_EQ(world.call("POST", "/v1/portal-links", body, with_key("k")).status, 201);
  const Answer again = world.call("POST", "/v1/portal-links", body, with_key("k"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.at("code"), "already_created");
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(world.service().store.links.size(), 1u);
}

TEST(IdempotentRequest, RepeatedRotationNeitherRotatesNorShowsTheSecretAgain) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook() + "/secret";
  const Answer first = world.call("POST", path + "/rotate", "{}", with_key("k"));
  ASSERT_EQ(first.status, 200);
  ASSERT_NE(first.at("secret"), "(none)");
  world.service().moment.wall += 10ms;
  const Answer again = world.call("POST", path + "/rotate", "{}", with_key("k"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.at("secret"), "(none)");
  EXPECT_EQ(again.at("set_at"), first.at("set_at"));
  EXPECT_EQ(again.at("old_secrets.0.ends_at"), first.at("old_secrets.0.ends_at"));
  EXPECT_EQ(world.call("GET", path).at("secret"), first.at("secret"));
  EXPECT_EQ(world.call("POST", path + "/rotate", R"({"grace_period_seconds":0})", with_key("k"))
                .at("code"),
            "idempotency_key_reused");
}

TEST(IdempotentRequest, RepeatedTestIsAnsweredWithTheFirstAttempt) {
  ApiWorld world;
  int received = 0;
  world.service().receive = [&received](const Webhook&, const Event&) {
    ++received;
    Outcome outcome;
    outcome.http_status = 204;
    return outcome;
  };
  const std::string path = "/v1/webhooks/" + world.make_webhook() + "/test";
  const Answer first = world.call("POST", path, "{}", with_key("k"));
  ASSERT_EQ(first.status, 200) << first.body;
  const Answer again = world.call("POST", path, "{}", with_key("k"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(received, 1);
  EXPECT_NE(world.call("POST", path, "{}", with_key("other")).at("event_id"), first.at("event_id"));

  world.service().receive = nullptr;
  const Answer late = world.call("POST", path, "{}", with_key("late"));
  EXPECT_EQ(late.status, 202);
  const Answer later = world.call("POST", path, "{}", with_key("late"));
  EXPECT_EQ(later.status, 202);
  EXPECT_EQ(later.body, late.body);
}

TEST(IdempotentRequest, FailedTestCanBeRepeated) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook() + "/test";
  world.service().store_failure = Error{Errc::unavailable, "The disk is full."};
  EXPECT_EQ(world.call("POST", path, "{}", with_key("k")).status, 503);
  world.service().store_failure.reset();
  EXPECT_EQ(world.call("POST", path, "{}", with_key("k")).status, 202);
}

TEST(IdempotentRequest, LostTestIsNotSentAgain) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook() + "/test";
  ASSERT_EQ(world.call("POST", path, "{}", with_key("k")).status, 202);
  // As after a crash between storing the key and the test.
  world.service().store.request_keys.begin()->second.use.subject = EventId{{9}}.to_string();
  EXPECT_EQ(world.call("POST", path, "{}", with_key("k")).at("code"), "already_created");
}

TEST(IdempotentRequest, ProblemIsNotRemembered) {
  ApiWorld world;
  EXPECT_EQ(world.call("POST", "/v1/webhooks", "{}", with_key("k")).status, 422);
  world.service().store_failure = Error{Errc::unavailable, "The disk is full."};
  EXPECT_EQ(world.call("POST", "/v1/webhooks", webhook_body, with_key("k")).status, 503);
  world.service().store_failure.reset();
  const Answer made = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.header("Idempotent-Replayed"), "(none)");
}

TEST(IdempotentRequest, SlowerOfTwoConcurrentRequestsGetsTheFirstAnswer) {
  ApiWorld world;
  Answer quicker;
  world.service().before_change = [&] {
    world.service().before_change = nullptr;
    quicker = world.call_within("POST", "/v1/webhooks", webhook_body, with_key("k"));
  };
  const Answer slower = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  EXPECT_EQ(quicker.status, 201);
  EXPECT_EQ(quicker.header("Idempotent-Replayed"), "(none)");
  EXPECT_EQ(slower.status, 201);
  EXPECT_EQ(slower.at("id"), quicker.at("id"));
  EXPECT_EQ(slower.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(world.service().store.webhooks.size(), 1u);
}

TEST(IdempotentRequest, DeletedThingIsNotCreatedAgain) {
  ApiWorld world;
  const Answer first = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  ASSERT_EQ(world.call("DELETE", "/v1/webhooks/" + first.at("id")).status, 204);
  const Answer again = world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.at("code"), "already_created");
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.header("Location"), "(none)");

  const auto retry = [&] { return world.call("POST", "/v1/dlq/retry-batch", "{}", with_key("o")); };
  EXPECT_EQ(retry().status, 202);
  world.service().store.operations.clear();  // As retention does.
  EXPECT_EQ(retry().at("code"), "already_created");
}

TEST(IdempotentRequest, KeyExpiresAfterItsWindow) {
  ApiWorld world{[](ApiOptions& options) { options.idempotency_window = 24h; }};
  const auto create = [&] {
    return world.call("POST", "/v1/webhooks", webhook_body, with_key("k"));
  };
  const std::string first = create().at("id");
  world.service().moment.wall += 24h - 1ms;
  EXPECT_EQ(create().at("id"), first);
  world.service().moment.wall += 1ms;
  EXPECT_NE(create().at("id"), first);
  EXPECT_EQ(world.service().store.webhooks.size(), 2u);
}

TEST(IdempotentRequest, CallersDoNotShareKeys) {
  ApiWorld world;
  const Answer other = world.call("POST", "/v1/api-keys", R"({"name":"b","scope":"admin"})");
  const std::string mine = world.call("POST", "/v1/webhooks", webhook_body, with_key("k")).at("id");
  Pairs theirs = with_key("k");
  theirs.emplace_back("authorization", "Bearer " + other.at("key"));
  const Answer made = world.call("POST", "/v1/webhooks", webhook_body, theirs);
  EXPECT_EQ(made.status, 201);
  EXPECT_NE(made.at("id"), mine);
  EXPECT_EQ(made.header("Idempotent-Replayed"), "(none)");
}

TEST(IdempotentRequest, TenantsCanUseKeys) {
  ApiWorld world;
  ASSERT_EQ(world.call("POST", "/v1/tenants", R"({"id":"acme"})").status, 201);
  const Answer key =
      world.call("POST", "/v1/api-keys", R"({"name":"t","scope":"tenant","tenant_id":"acme"})");
  ASSERT_EQ(key.status, 201) << key.body;
  Pairs headers = with_key("k");
  headers.emplace_back("authorization", "Bearer " + key.at("key"));
  const Answer first = world.call("POST", "/v1/webhooks", webhook_body, headers);
  ASSERT_EQ(first.status, 201) << first.body;
  const Answer again = world.call("POST", "/v1/webhooks", webhook_body, headers);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.at("id"), first.at("id"));
  EXPECT_EQ(again.at("tenant_id"), "acme");
}

TEST(IdempotentRequest, RejectsAKeyThatIsLongOrNotPrintable) {
  ApiWorld world;
  for (const std::string& key : {std::string{}, std::string(257, 'k'), std::string{"a\tb"}}) {
    const Answer refused = world.call("POST", "/v1/webhooks", webhook_body, with_key(key));
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.at("code"), "invalid_idempotency_key");
  }
  const std::string longest(256, 'k');
  EXPECT_EQ(world.call("POST", "/v1/webhooks", webhook_body, with_key(longest)).status, 201);
}

TEST(TenantLimits, ConcurrentChangesAreBothApplied) {
  ApiWorld world;
  ASSERT_EQ(world.call("POST", "/v1/tenants", R"({"id":"acme"})").status, 201);
  const std::string path = "/v1/tenants/acme/limits";
  world.service().before_change = [&] {
    world.service().before_change = nullptr;
    EXPECT_EQ(world.call_within("PUT", path, R"({"webhooks_max":5})", {}).status, 200);
  };
  const Answer changed = world.call("PUT", path, R"({"events_per_minute":60})");
  EXPECT_EQ(
      changed.body,
      R"({"webhooks_max":5,"events_per_minute":60,"timeout_ms_max":null,"max_in_flight_max":null})");
  EXPECT_EQ(world.call("GET", path).body, changed.body);
  const std::vector<AuditRecord>& audit = world.service().store.audit;
  EXPECT_EQ(audit.back().entry.detail, R"({"events_per_minute":60})");
  EXPECT_EQ(
      world.call("PUT", path, R"({"webhooks_max":null})").body,
      R"({"webhooks_max":null,"events_per_minute":60,"timeout_ms_max":null,"max_in_flight_max":null})");
}

}  // namespace
}  // namespace postrider::api
