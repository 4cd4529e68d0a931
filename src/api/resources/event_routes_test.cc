// Publishing and reading events through the router.
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::hours;

TEST(EventRoutes, PublishAnswersWithTheIdAndTheNumberOfDeliveries) {
  ApiWorld world;
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"a","data":1})").at("deliveries"), "0");
  world.make_webhook();
  world.make_webhook();
  const Answer answer = world.call("POST", "/v1/events", R"({"type":"a","data":1})");
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.body, R"({"id":")" + answer.at("id") + R"(","deliveries":2,"duplicate":false})");
}

TEST(EventRoutes, RepeatedKeyGetsTheFirstAnswerWhateverBecameOfTheDeliveries) {
  ApiWorld world;
  world.make_webhook();
  const std::string body = R"({"type":"a","data":1,"idempotency_key":"k"})";
  const std::string id = world.publish(body);
  const std::string first = R"({"id":")" + id + R"(","deliveries":1,"duplicate":true})";
  const Answer waiting = world.call("POST", "/v1/events", body);
  EXPECT_EQ(waiting.status, 200);
  EXPECT_EQ(waiting.body, first);
  world.settle(world.delivery_of(id), DeliveryState::dead_letter, 500);
  const Answer dead = world.call("POST", "/v1/events", body);
  EXPECT_EQ(dead.status, 200);
  EXPECT_EQ(dead.body, first);
}

TEST(EventRoutes, RepeatedKeyIsAConflictUntilDeliveredIfSoConfigured) {
  ApiWorld world{[](ApiOptions& options) { options.refuse_in_progress = true; }};
  world.make_webhook();
  const std::string body = R"({"type":"a","data":1,"idempotency_key":"k"})";
  const std::string id = world.publish(body);
  const Answer early = world.call("POST", "/v1/events", body);
  EXPECT_EQ(early.status, 409);
  EXPECT_EQ(early.at("code"), "duplicate_event");
  EXPECT_EQ(early.at("id"), id);
  EXPECT_EQ(early.content_type, "application/problem+json");

  world.settle(world.delivery_of(id), DeliveryState::succeeded, 200);
  const Answer late = world.call("POST", "/v1/events", body);
  EXPECT_EQ(late.status, 200);
  EXPECT_EQ(late.body, R"({"id":")" + id + R"(","deliveries":1,"duplicate":true})");

  const Answer other =
      world.call("POST", "/v1/events", R"({"type":"a","data":2,"idempotency_key":"k"})");
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.at("code"), "idempotency_key_reused");
  EXPECT_EQ(other.at("id"), id);
}

TEST(EventRoutes, ProblemMentionsThatTheKeyWasDerived) {
  ApiWorld world{[](ApiOptions& options) {
    options.derive_keys = true;
    options.refuse_in_progress = true;
  }};
  world.make_webhook();
  const std::string first =
      R"({"type":"a.b","resource_id":"r","timestamp":"2026-01-01T00:00:00Z","data":1})";
  const std::string other =
      R"({"type":"a.b","resource_id":"r","timestamp":"2026-01-01T00:00:00Z","data":2})";
  ASSERT_EQ(world.call("POST", "/v1/events", first).status, 202);
  for (const std::string& body : {first, other}) {
    const Answer single = world.call("POST", "/v1/events", body);
    EXPECT_EQ(single.status, body == first ? 409 : 422);
    EXPECT_NE(single.at("detail").find("`resource_id`, `type` and second of `timestamp`"),
              std::string::npos);
    const Answer batch = world.call("POST", "/v1/events/batch?atomic=false", "[" + body + "]");
    EXPECT_EQ(batch.at("results.0.detail"), single.at("detail"));
  }
  EXPECT_TRUE(world.call("POST", "/v1/events/batch", "[" + other + "]")
                  .at("errors.0.message")
                  .starts_with("was derived from `resource_id`, `type` and the second of"));
  const std::string given = R"({"type":"a.b","data":1,"idempotency_key":"k"})";
  ASSERT_EQ(world.call("POST", "/v1/events", given).status, 202);
  EXPECT_EQ(world.call("POST", "/v1/events", given).at("detail"),
            "This event was published before and is still being delivered.");
}

TEST(EventRoutes, RejectsAnInvalidTenantId) {
  ApiWorld world;
  for (const std::string id : {"bad tenant", "a/b", "\u00e9", ".."}) {
    const std::string tenant = R"("tenant_id":")" + id + "\"";
    const Answer event =
        world.call("POST", "/v1/events", R"({"type":"a.b","data":1,)" + tenant + "}");
    EXPECT_EQ(event.status, 422) << id;
    EXPECT_EQ(event.at("errors.0.field"), "tenant_id") << id;
    EXPECT_NE(event.at("detail").find("`._:@-`"), std::string::npos) << event.body;
    const Answer webhook = world.call(
        "POST", "/v1/webhooks", R"({"url":"https://example.com/","events":["*"],)" + tenant + "}");
    EXPECT_EQ(webhook.status, 422) << id;
    EXPECT_EQ(webhook.at("errors.0.field"), "tenant_id") << id;
  }
}

TEST(EventRoutes, KeyExpiresAfterItsWindow) {
  ApiWorld world;
  const std::string body = R"({"type":"a","data":1})";
  const auto publish = [&] {
    return world.call("POST", "/v1/events", body, {{"idempotency-key", "k"}}).status;
  };
  EXPECT_EQ(publish(), 202);
  world.service().moment.wall += hours{24} - Millis{1};
  EXPECT_EQ(publish(), 200);
  world.service().moment.wall += Millis{1};
  EXPECT_EQ(publish(), 202);
}

TEST(EventRoutes, RejectsInvalidEvents) {
  ApiWorld world;
  const std::string good = R"({"type":"a","data":1})";
  EXPECT_EQ(world.call("POST", "/v1/events", "{").status, 400);
  EXPECT_EQ(world.call("POST", "/v1/events", "").status, 400);
  EXPECT_EQ(world.call("POST", "/v1/events", "[]").status, 422);
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"a","type":"a","data":1})").status, 422);
  EXPECT_EQ(world.call("POST", "/v1/events", R"({"type":"a","data":{"x":1,"x":2}})").status, 422);
  EXPECT_EQ(world.call("POST", "/v1/events", good, {{"content-type", "text/plain"}}).status, 415);
  EXPECT_EQ(world.call("POST", "/v1/events", good, {{"idempotency-key", ""}}).status, 422);
  EXPECT_EQ(world.call("POST", "/v1/events?atomic=true", good).status, 400);
  const std::string large = R"({"type":"a","data":")" + std::string(262'143, 'x') + "\"}";
  EXPECT_EQ(world.call("POST", "/v1/events", large).status, 413);
  EXPECT_EQ(world.call("GET", "/v1/events").at("data"), "[]");
}

TEST(EventRoutes, FailingStoreIs503WithRetryAfter) {
  ApiWorld world;
  world.service().store_failure = Error{Errc::unavailable, "The store is failing."};
  const Answer answer = world.call("POST", "/v1/events", R"({"type":"a","data":1})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.at("detail"), "The store is failing.");
  EXPECT_NE(answer.header("Retry-After"), "(none)");
}

TEST(EventRoutes, ReturnsAnEventAsItWasPublished) {
  ApiWorld world;
  world.make_webhook();
  const std::string id = world.publish(
      R"({"type":"a.b","data": [1.0,  2] ,"metadata":{"z":1, "a":2},"resource_id":"r",)"
      R"("priority":"high"})");
  const Answer event = world.call("GET", "/v1/events/" + id);
  EXPECT_EQ(event.status, 200);
  EXPECT_NE(event.body.find(R"("data":[1.0,  2])"), std::string::npos);
  EXPECT_NE(event.body.find(R"("metadata":{"z":1, "a":2})"), std::string::npos);
  EXPECT_EQ(event.at("resource_id"), "r");
  EXPECT_EQ(event.at("priority"), "high");
  EXPECT_EQ(event.at("tenant_id"), "null");
  EXPECT_EQ(event.at("deliveries.0.event_id"), id);
  EXPECT_EQ(event.at("deliveries.0.status"), "pending");
  EXPECT_EQ(event.at("deliveries_next_cursor"), "null");
  EXPECT_EQ(world.call("GET", "/v1/events/evt_00000000000000000000000000").status, 404);
  EXPECT_EQ(world.call("GET", "/v1/events/nonsense").status, 404);
}

TEST(EventRoutes, ListIncludesEventsWithoutDeliveries) {
  ApiWorld world;
  const std::string first = world.publish(R"({"type":"a","data":1,"tenant_id":"t"})");
  world.service().moment.wall += hours{1};
  const std::string second = world.publish(R"({"type":"b","data":2})");
  EXPECT_EQ(world.call("GET", "/v1/events").at("data.0.id"), second);
  EXPECT_EQ(world.call("GET", "/v1/events").at("data.1.id"), first);
  EXPECT_EQ(world.call("GET", "/v1/events?event_type=a,c").at("data.0.id"), first);
  EXPECT_EQ(world.call("GET", "/v1/events?tenant_id=t").at("data.1"), "(none)");
  EXPECT_EQ(world.call("GET", "/v1/events?from=2026-01-01T00:30:00Z").at("data.1"), "(none)");
  const Answer page = world.call("GET", "/v1/events?limit=1");
  const Answer next = world.call("GET", "/v1/events?limit=1&cursor=" + page.at("next_cursor"));
  EXPECT_EQ(next.at("data.0.id"), first);
  EXPECT_EQ(next.at("next_cursor"), "null");
  EXPECT_EQ(world.call("GET", "/v1/events?status=pending").status, 400);
}

TEST(EventBatch, AcceptsAnObjectOrABareArray) {
  ApiWorld world;
  world.make_webhook();
  for (const char* body : {R"({"events":[{"type":"a","data":1},{"type":"b","data":2}]})",
                           R"( [{"type":"a","data":1},{"type":"b","data":2}])"}) {
    const Answer answer = world.call("POST", "/v1/events/batch", body);
    ASSERT_EQ(answer.status, 202) << answer.body;
    EXPECT_EQ(answer.at("accepted"), "2");
    EXPECT_EQ(answer.at("results.0.index"), "0");
    EXPECT_EQ(answer.at("results.1.index"), "1");
    EXPECT_EQ(answer.at("results.1.status"), "202");
    EXPECT_EQ(answer.at("results.1.deliveries"), "1");
    EXPECT_EQ(world.call("GET", "/v1/events/" + answer.at("results.1.id")).at("type"), "b");
  }
}

TEST(EventBatch, IsAtomicByDefault) {
  ApiWorld world;
  const std::string body =
      R"([{"type":"a","data":1},{"type":"","data":2},7,{"type":"c","data":3}])";
  const Answer refused = world.call("POST", "/v1/events/batch", body);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("errors.0.field"), "events[1].type");
  EXPECT_EQ(refused.at("errors.1.field"), "events[2]");
  EXPECT_EQ(world.call("GET", "/v1/events").at("data"), "[]");

  const Answer partly = world.call("POST", "/v1/events/batch?atomic=false", body);
  EXPECT_EQ(partly.status, 202);
  EXPECT_EQ(partly.at("accepted"), "2");
  EXPECT_EQ(partly.at("results.0.status"), "202");
  EXPECT_EQ(partly.at("results.1.status"), "422");
  EXPECT_EQ(partly.at("results.1.id"), "null");
  EXPECT_EQ(partly.at("results.1.errors.0.field"), "events[1].type");
  EXPECT_EQ(partly.at("results.2.status"), "422");
  EXPECT_EQ(partly.at("results.3.status"), "202");
  EXPECT_EQ(world.call("GET", "/v1/events/" + partly.at("results.3.id")).at("type"), "c");
}

TEST(EventBatch, InvalidItemsOfANonAtomicBatchFailAlone) {
  ApiWorld world;
  const std::string deep = std::string(33, '[') + std::string(33, ']');
  const std::string body = R"({"events":[{"type":"a","data":{"k":1,"k":2}},{"type":"b","data":)" +
                           deep + R"(},{"type":"c","data":"ok"}]})";
  const Answer partly = world.call("POST", "/v1/events/batch?atomic=false", body);
  EXPECT_EQ(partly.status, 202);
  EXPECT_EQ(partly.at("accepted"), "1");
  EXPECT_EQ(partly.at("results.0.code"), "unacceptable_json");
  EXPECT_EQ(partly.at("results.0.errors.0.field"), "events[0]");
  EXPECT_EQ(partly.at("results.1.code"), "unacceptable_json");
  EXPECT_EQ(partly.at("results.2.status"), "202");
  EXPECT_EQ(world.call("POST", "/v1/events/batch", body).status, 422);
}

TEST(EventBatch, InvalidJsonFailsTheWholeBatch) {
  ApiWorld world;
  for (const std::string body :
       {R"([{"type":"a","data":1},{"type":"b","data":01}])", R"([{"type":"a","data":1},])",
        R"([{"type":"a","data":1}}])", R"({"events":[{"type":"a","data":1}],})",
        R"({"events":[{"type":"a","data":1} x]})", R"([{"type":"a","data":1}] x)"}) {
    for (const char* query : {"", "?atomic=false"}) {
      const Answer refused = world.call("POST", std::string{"/v1/events/batch"} + query, body);
      EXPECT_EQ(refused.status, 400) << body << query;
      EXPECT_EQ(refused.at("code"), "invalid_json") << body << query;
    }
  }
  EXPECT_EQ(world.call("GET", "/v1/events").at("data"), "[]");
}

TEST(EventBatch, ATenantWithTooManyDeliveriesToBeMadeGets429) {
  ApiWorld world;
  world.service().store_failure = Error{Errc::conflict, "Earlier events are still fanned out."};
  for (const char* path : {"/v1/events", "/v1/events/batch"}) {
    const std::string event = R"({"type":"a","data":1})";
    const bool single = std::string_view{path} == "/v1/events";
    const Answer refused = world.call("POST", path, single ? event : "[" + event + "]");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.at("code"), "fanout_backlog_full");
  }
}

TEST(EventBatch, AcceptsDataAsDeepAsASingleEvent) {
  ApiWorld world;
  const auto event = [](std::size_t depth) {
    return R"({"type":"a","data":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(world.call("POST", "/v1/events", event(32)).status, 202);
  EXPECT_EQ(world.call("POST", "/v1/events", event(33)).status, 422);
  EXPECT_EQ(world.call("POST", "/v1/events/batch", "[" + event(32) + "]").status, 202);
  EXPECT_EQ(world.call("POST", "/v1/events/batch", "[" + event(33) + "]").status, 422);
}

TEST(EventBatch, QuotaAndUnknownTenantFailOnlyTheirItem) {
  ApiWorld world;
  world.call("POST", "/v1/tenants", R"({"id":"acme"})");
  world.call("PUT", "/v1/tenants/acme/limits", R"({"events_per_minute":1})");
  const std::string body = R"([{"type":"a","data":1,"tenant_id":"acme"},)"
                           R"({"type":"a","data":2,"tenant_id":"acme"},)"
                           R"({"type":"a","data":3,"tenant_id":"other"}])";
  const Answer partly = world.call("POST", "/v1/events/batch?atomic=false", body);
  EXPECT_EQ(partly.status, 202);
  EXPECT_EQ(partly.at("results.0.status"), "202");
  EXPECT_EQ(partly.at("results.1.status"), "429");
  EXPECT_EQ(partly.at("results.1.code"), "event_quota_exceeded");
  EXPECT_EQ(partly.at("results.2.status"), "202");
}

TEST(EventBatch, StoresNothingIfEveryItemIsInvalid) {
  ApiWorld world;
  const Answer answer = world.call("POST", "/v1/events/batch?atomic=false", "[1]");
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.at("accepted"), "0");
  EXPECT_EQ(answer.at("results.0.status"), "422");
}

TEST(EventBatch, ReusedKeyFailsTheAtomicBatchOrOnlyItsItem) {
  ApiWorld world;
  const std::string first = world.publish(R"({"type":"a","data":1,"idempotency_key":"k"})");
  const std::string body = R"([{"type":"b","data":1},{"type":"a","data":2,"idempotency_key":"k"}])";
  const Answer refused = world.call("POST", "/v1/events/batch", body);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("code"), "idempotency_key_reused");
  EXPECT_EQ(refused.at("errors.0.field"), "events[1].idempotency_key");
  EXPECT_EQ(world.call("GET", "/v1/events?event_type=b").at("data"), "[]");

  const Answer partly = world.call("POST", "/v1/events/batch?atomic=false", body);
  EXPECT_EQ(partly.status, 202);
  EXPECT_EQ(partly.at("accepted"), "1");
  EXPECT_EQ(partly.at("results.1.status"), "422");
  EXPECT_EQ(partly.at("results.1.id"), first);
  EXPECT_EQ(partly.at("results.1.code"), "idempotency_key_reused");
}

TEST(EventBatch, RepeatedBatchStoresNothingTwice) {
  ApiWorld world;
  world.make_webhook();  // The deliveries of the first batch are under way.
  const std::string body = R"([{"type":"a","data":1},{"type":"b","data":2}])";
  const Answer first = world.call("POST", "/v1/events/batch", body, {{"idempotency-key", "batch"}});
  const Answer again = world.call("POST", "/v1/events/batch", body, {{"idempotency-key", "batch"}});
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(again.at("accepted"), "0");
  for (const char* index : {"0", "1"}) {
    const std::string item = std::string{"results."} + index;
    EXPECT_EQ(again.at(item + ".id"), first.at(item + ".id"));
    EXPECT_EQ(again.at(item + ".duplicate"), "true");
    EXPECT_EQ(again.at(item + ".status"), "200");
  }
}

TEST(EventBatch, AcceptsOneToAThousandItems) {
  ApiWorld world;
  const auto batch = [](int count) {
    std::string body = "[";
    for (int index = 0; index < count; ++index) {
      body += index == 0 ? "" : ",";
      body += R"({"type":"a","data":1})";
    }
    return body + "]";
  };
  EXPECT_EQ(world.call("POST", "/v1/events/batch", batch(0)).status, 422);
  EXPECT_EQ(world.call("POST", "/v1/events/batch", batch(1)).status, 202);
  EXPECT_EQ(world.call("POST", "/v1/events/batch", batch(1000)).at("accepted"), "1000");
  EXPECT_EQ(world.call("POST", "/v1/events/batch", batch(1001)).status, 422);
}

TEST(EventBatch, RejectsAnyOtherShape) {
  ApiWorld world;
  const std::pair<const char*, int> cases[] = {
      {"", 400},
      {"[", 400},
      {"{}", 422},
      {"7", 422},
      {R"({"events":{}})", 422},
      {R"({"events":[],"x":1})", 422},
      {R"({"events":null})", 422},
      {R"([{"type":"a","data":1}] x)", 400},
  };
  for (const auto& [body, status] : cases) {
    EXPECT_EQ(world.call("POST", "/v1/events/batch", body).status, status) << body;
  }
  EXPECT_EQ(world.call("POST", "/v1/events/batch?atomic=maybe", "[1]").status, 400);
}

}  // namespace
}  // namespace postrider::api
