// Webhooks through the router.
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const std::string unknown = "/v1/webhooks/whk_00000000000000000000000000";

TEST(WebhookRoutes, OnlyCreateAnswersWithTheSecret) {
  ApiWorld world;
  const Answer created =
      world.call("POST", "/v1/webhooks",
                 R"({"url":"https://example.com/a","events":["order.*"],"name":"first"})");
  ASSERT_EQ(created.status, 201) << created.body;
  const std::string path = "/v1/webhooks/" + created.at("id");
  EXPECT_EQ(created.header("Location"), path);
  EXPECT_TRUE(created.at("secret").starts_with("whsec_"));
  EXPECT_EQ(created.at("circuit.state"), "closed");
  EXPECT_EQ(created.at("created_at"), "2026-01-01T00:00:00.000Z");

  for (const Answer& other :
       {world.call("GET", path), world.call("GET", "/v1/webhooks"),
        world.call("PATCH", path, R"({"name":"second"})"), world.call("POST", path + "/pause")}) {
    EXPECT_EQ(other.status, 200) << other.body;
    EXPECT_EQ(other.body.find("whsec_"), std::string::npos);
    EXPECT_EQ(other.body.find("\"secret\""), std::string::npos);
  }
}

TEST(WebhookRoutes, EveryWebhookGetsItsOwnSecret) {
  ApiWorld world;
  const std::string body = R"({"url":"https://example.com/","events":["*"]})";
  const Answer first = world.call("POST", "/v1/webhooks", body);
  const Answer second = world.call("POST", "/v1/webhooks", body);
  EXPECT_NE(first.at("secret"), second.at("secret"));
  EXPECT_NE(first.at("id"), second.at("id"));
  const std::string secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
  const std::string own = R"(,"secret":")" + secret + "\"}";
  EXPECT_EQ(world.call("POST", "/v1/webhooks", body.substr(0, body.size() - 1) + own).at("secret"),
            secret);
}

TEST(WebhookRoutes, SecretsOfSchemesThatAreNotStandardAreText) {
  ApiWorld world;
  const auto create = [&](const std::string& fields) {
    return world.call("POST", "/v1/webhooks",
                      R"({"url":"https://example.com/","events":["*"],)" + fields + "}");
  };
  const std::string scheme = R"("signature":{"scheme":"sha256-timestamp"})";
  const Answer made = create(scheme);
  EXPECT_EQ(made.at("secret").size(), 64u);
  EXPECT_EQ(made.at("secret").find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(create(scheme + R"(,"secret":"whsec_ is text")").at("secret"), "whsec_ is text");

  const std::string path = "/v1/webhooks/" + made.at("id");
  EXPECT_EQ(world.call("GET", path + "/secret").at("secret"), made.at("secret"));
  EXPECT_EQ(world.call("POST", path + "/secret/rotate").at("secret").size(), 64u);
  EXPECT_EQ(world.call("POST", path + "/secret/rotate", R"({"secret":"8 bytes!"})").at("secret"),
            "8 bytes!");
  world.service().moment.wall += seconds{1};
  const Answer refused = world.call("PATCH", path, R"({"signature":{"scheme":"standard"}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.at("errors.0.field"), "signature.scheme");
}

TEST(WebhookRoutes, AnotherSchemeIsNotANewSecret) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook();
  const std::string secret = world.call("GET", path + "/secret").at("secret");
  world.service().moment.wall += seconds{1};
  const Answer changed = world.call("PATCH", path, R"({"signature":{"scheme":"t-v1"}})");
  EXPECT_EQ(changed.at("secret_set_at"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(world.call("GET", path + "/secret").at("secret"), secret);
}

TEST(WebhookRoutes, PutAndPatchMergeAndKeepTheRest) {
  for (const char* method : {"PUT", "PATCH"}) {
    ApiWorld world;
    const std::string path =
        "/v1/webhooks/" + world.make_webhook(R"("name":"a","max_in_flight":7,"description":"d")");
    world.service().moment.wall += seconds{1};
    const Answer changed = world.call(
        method, path, R"({"name":"b","description":null,"url":"https://example.com/new"})");
    ASSERT_EQ(changed.status, 200) << changed.body;
    const Answer read = world.call("GET", path);
    EXPECT_EQ(read.body, changed.body);
    EXPECT_EQ(read.at("name"), "b");
    EXPECT_EQ(read.at("description"), "null");
    EXPECT_EQ(read.at("url"), "https://example.com/new");
    EXPECT_EQ(read.at("max_in_flight"), "7");
    EXPECT_EQ(read.at("created_at"), "2026-01-01T00:00:00.000Z");
    EXPECT_EQ(read.at("updated_at"), "2026-01-01T00:00:01.000Z");
  }
}

TEST(WebhookRoutes, HiddenHeaderSentBackKeepsItsValue) {
  ApiWorld world;
  const std::string path =
      "/v1/webhooks/" + world.make_webhook(R"("headers":{"Authorization":"Bearer x"})");
  ASSERT_EQ(world.call("GET", path).at("headers.Authorization"), "[hidden]");
  world.call("PATCH", path, R"({"headers":{"authorization":"[hidden]","X-New":"1"}})");
  const auto id = WebhookId::parse(path.substr(path.rfind('/') + 1));
  EXPECT_EQ(world.service().directory()->find(*id)->headers,
            (Headers{{"authorization", "Bearer x"}, {"X-New", "1"}}));
}

TEST(WebhookRoutes, ConcurrentChangeIsMergedAndNotOverwritten) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  const std::string path = "/v1/webhooks/" + id;
  world.service().before_change = [&] {
    world.service().before_change = nullptr;
    const WebhookRef webhook = world.service().directory()->find(*WebhookId::parse(id));
    Webhook changed = *webhook;
    changed.owner_id = "someone";
    changed.signature.header_prefix = "X-Mine-";
    const auto put = [changed](const Webhook&) -> Result<Webhook> { return changed; };
    world.service().apply_now(changed.id, put);
  };
  const Answer merged = world.call("PATCH", path, R"({"name":"n"})");
  EXPECT_EQ(merged.at("owner_id"), "someone");
  EXPECT_EQ(merged.at("name"), "n");
}

TEST(WebhookRoutes, ConcurrentChangeCanMakeAnUpdateInvalid) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  world.service().before_change = [&] {
    world.service().before_change = nullptr;
    const auto take_prefix = [](const Webhook& current) -> Result<Webhook> {
      Webhook changed = current;
      changed.signature.header_prefix = "X-Mine-";
      return changed;
    };
    world.service().apply_now(*WebhookId::parse(id), take_prefix);
  };
  const Answer refused =
      world.call("PATCH", "/v1/webhooks/" + id, R"({"headers":{"X-Mine-Event":"x"}})");
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_EQ(refused.at("errors.0.field"), "headers.X-Mine-Event");
}

TEST(WebhookRoutes, NamesAllMistakesOfABody) {
  ApiWorld world;
  const Answer refused =
      world.call("POST", "/v1/webhooks", R"({"url":"ftp://x","events":[],"colour":1})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.content_type, "application/problem+json");
  EXPECT_EQ(refused.at("code"), "validation_failed");
  EXPECT_EQ(refused.at("errors.0.field"), "url");
  EXPECT_EQ(refused.at("errors.1.field"), "events");
  EXPECT_EQ(refused.at("errors.2.field"), "colour");
  const Answer unknown_only =
      world.call("POST", "/v1/webhooks", R"({"url":"https://x.com/","events":["*"],"colour":1})");
  EXPECT_EQ(unknown_only.at("code"), "unknown_field");
}

TEST(WebhookRoutes, EventThatTheFilterRejectsCreatesNoDelivery) {
  ApiWorld world;
  const std::string id =
      world.make_webhook(R"("filter":{"data":{"amount":[{"numeric":[">",100]}]}})");
  const auto deliveries = [&world](std::string_view amount) {
    return world
        .call("POST", "/v1/events", R"({"type":"a","data":{"amount":)" + std::string{amount} + "}}")
        .at("deliveries");
  };
  EXPECT_EQ(deliveries("100"), "0");
  EXPECT_EQ(deliveries("100.01"), "1");
  EXPECT_EQ(world.call("PATCH", "/v1/webhooks/" + id, R"({"filter":null})").status, 200);
  EXPECT_EQ(deliveries("100"), "1");
}

TEST(WebhookRoutes, UnknownIdIsNotFound) {
  ApiWorld world;
  const std::pair<const char*, std::string> requests[] = {
      {"GET", unknown},
      {"GET", "/v1/webhooks/whk_short"},
      {"GET", "/v1/webhooks/" + std::string(4000, 'x')},
      {"GET", "/v1/webhooks/\xFF"},
      {"PATCH", unknown},
      {"PUT", unknown},
      {"DELETE", unknown},
      {"POST", unknown + "/pause"},
      {"POST", unknown + "/resume"},
      {"GET", unknown + "/health"},
      {"GET", unknown + "/deliveries"},
      {"PATCH", unknown + "/circuit-breaker"},
      {"POST", unknown + "/deliveries/dlv_00000000000000000000000000/retry"},
  };
  for (const auto& [method, path] : requests) {
    const Answer answer = world.call(method, path, "{}");
    EXPECT_EQ(answer.status, 404) << method << " " << path.substr(0, 60);
    EXPECT_EQ(answer.at("code"), "not_found");
  }
}

TEST(WebhookRoutes, DeleteRemovesTheWebhookAndCancelsWaitingDeliveries) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  const std::string event = world.publish(R"({"type":"a","data":1})");
  const Answer deleted = world.call("DELETE", "/v1/webhooks/" + id);
  EXPECT_EQ(deleted.status, 204);
  EXPECT_EQ(deleted.body, "");
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + id).status, 404);
  EXPECT_EQ(world.call("DELETE", "/v1/webhooks/" + id).status, 404);
  const std::string delivery = world.delivery_of(event);
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + delivery).at("status"), "cancelled");
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + delivery).at("request"), "null");
  EXPECT_EQ(world.call("POST", "/v1/deliveries/" + delivery + "/retry").at("code"),
            "webhook_deleted");
}

TEST(WebhookRoutes, ListFiltersAndPagesNewestFirst) {
  ApiWorld world;
  std::vector<std::string> ids;
  for (int index = 0; index < 5; ++index) {
    ids.push_back(world.make_webhook(R"("name":"Hook )" + std::to_string(index) + "\""));
    world.service().moment.wall += seconds{1};
  }
  const Answer first = world.call("GET", "/v1/webhooks?limit=2");
  EXPECT_EQ(first.at("data.0.id"), ids[4]);
  EXPECT_EQ(first.at("data.1.id"), ids[3]);
  EXPECT_EQ(first.at("data.2"), "(none)");
  const Answer second = world.call("GET", "/v1/webhooks?limit=2&cursor=" + first.at("next_cursor"));
  EXPECT_EQ(second.at("data.0.id"), ids[2]);
  const Answer third = world.call("GET", "/v1/webhooks?limit=2&cursor=" + second.at("next_cursor"));
  EXPECT_EQ(third.at("data.0.id"), ids[0]);
  EXPECT_EQ(third.at("next_cursor"), "null");
  EXPECT_EQ(world.call("GET", "/v1/webhooks?offset=4").at("data.0.id"), ids[0]);
  EXPECT_EQ(world.call("GET", "/v1/webhooks?offset=3&limit=2").at("next_cursor"), "null");
  EXPECT_EQ(world.call("GET", "/v1/webhooks?q=hOOk 3").at("data.0.id"), ids[3]);
  EXPECT_EQ(world.call("GET", "/v1/webhooks?q=hOOk 3").at("data.1"), "(none)");
  EXPECT_EQ(world.call("GET", "/v1/webhooks?tenant_id=t").at("data"), "[]");
}

TEST(WebhookRoutes, ListFiltersByTypeTenantAndActivity) {
  ApiWorld world;
  const std::string swaps = world.make_webhook(R"("tenant_id":"t")");
  const std::string off = world.make_webhook(R"("active":false)");
  world.call("PATCH", "/v1/webhooks/" + swaps, R"({"events":["swap.*"]})");
  const auto only = [&](const std::string& query) {
    const Answer answer = world.call("GET", "/v1/webhooks?" + query);
    EXPECT_EQ(answer.at("data.1"), "(none)") << query;
    return answer.at("data.0.id");
  };
  EXPECT_EQ(only("active=false"), off);
  EXPECT_EQ(only("active=true"), swaps);
  EXPECT_EQ(only("tenant_id=t"), swaps);
  EXPECT_EQ(only("event_type=order.paid"), off);
  EXPECT_EQ(only("event_type=swap.done&active=true"), swaps);
  EXPECT_EQ(world.call("GET", "/v1/webhooks?active=yes").status, 400);
  EXPECT_EQ(world.call("GET", "/v1/webhooks?event_type=swap.*").status, 400);
  EXPECT_EQ(world.call("GET", "/v1/webhooks?colour=red").status, 400);
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + off + "?x=1").status, 400);
}

TEST(WebhookRoutes, ListFiltersByStatusAndCircuit) {
  ApiWorld world;
  const std::string active = world.make_webhook();
  const std::string paused = world.make_webhook();
  const std::string disabled = world.make_webhook(R"("active":false)");
  world.call("POST", "/v1/webhooks/" + paused + "/pause");
  world.call("POST", "/v1/webhooks/" + disabled + "/pause");
  world.service().store.circuits[*WebhookId::parse(paused)].state = CircuitState::open;
  world.service().store.circuits[*WebhookId::parse(disabled)].state = CircuitState::half_open;
  const std::pair<const char*, std::string> cases[] = {{"status=active", active},
                                                       {"status=paused", paused},
                                                       {"status=disabled", disabled},
                                                       {"circuit=closed", active},
                                                       {"circuit=open", paused},
                                                       {"circuit=half_open", disabled},
                                                       {"status=paused&circuit=open", paused}};
  for (const auto& [query, id] : cases) {
    const Answer listed = world.call("GET", std::string{"/v1/webhooks?"} + query);
    EXPECT_EQ(listed.at("data.0.id"), id) << query << listed.body;
    EXPECT_EQ(listed.at("data.1"), "(none)") << query;
  }
  EXPECT_EQ(world.call("GET", "/v1/webhooks?status=active&circuit=open").at("data"), "[]");
  EXPECT_EQ(world.call("GET", "/v1/webhooks?status=odd").status, 400);
  EXPECT_EQ(world.call("GET", "/v1/webhooks?circuit=odd").status, 400);
}

TEST(WebhookRoutes, PauseAndResumeChangeOnlyTheFlag) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook();
  EXPECT_EQ(world.call("POST", path + "/pause").at("paused"), "true");
  EXPECT_EQ(world.call("POST", path + "/pause", "{}").at("paused"), "true");
  EXPECT_EQ(world.call("POST", path + "/resume").at("paused"), "false");
  EXPECT_EQ(world.call("POST", path + "/pause", R"({"for":1})").status, 422);
  EXPECT_EQ(world.call("GET", path).at("paused"), "false");
}

TEST(WebhookRoutes, CircuitCanBeResetAndForced) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook();
  const std::string circuit = path + "/circuit-breaker";
  const Answer opened =
      world.call("PATCH", circuit, R"({"action":"force_open","duration_seconds":60})");
  EXPECT_EQ(opened.status, 200) << opened.body;
  EXPECT_EQ(opened.at("circuit.state"), "open");
  EXPECT_EQ(opened.at("circuit.forced_until"), "2026-01-01T00:01:00.000Z");
  EXPECT_EQ(world.call("GET", path).at("circuit.state"), "open");
  EXPECT_EQ(world.call("GET", "/v1/webhooks").at("data.0.circuit.state"), "open");
  EXPECT_EQ(world.call("PATCH", circuit, R"({"action":"reset"})").at("circuit.state"), "closed");

  const std::pair<const char*, const char*> wrong[] = {
      {"{}", "action"},
      {R"({"action":"explode"})", "action"},
      {R"({"action":null})", "action"},
      {R"({"action":"reset","duration_seconds":5})", "duration_seconds"},
      {R"({"action":"force_open","duration_seconds":0})", "duration_seconds"},
      {R"({"action":"force_open","duration_seconds":2592001})", "duration_seconds"},
      {R"({"action":"reset","why":1})", "why"},
  };
  for (const auto& [body, field] : wrong) {
    const Answer refused = world.call("PATCH", circuit, body);
    EXPECT_EQ(refused.status, 422) << body;
    EXPECT_EQ(refused.at("errors.0.field"), field) << body;
    EXPECT_EQ(refused.at("errors.1"), "(none)") << body;
  }
}

TEST(WebhookRoutes, HealthCombinesLaneAndHistory) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  const std::string path = "/v1/webhooks/" + id + "/health";
  EXPECT_EQ(world.call("GET", path).at("recent.success_rate"), "null");
  const std::string good = world.publish(R"({"type":"a","data":1})");
  const std::string bad = world.publish(R"({"type":"a","data":2})");
  world.publish(R"({"type":"a","data":3})");
  world.settle(world.delivery_of(good), DeliveryState::succeeded, 200);
  world.settle(world.delivery_of(bad), DeliveryState::dead_letter, 404);
  LaneView& lane = world.service().lanes[*WebhookId::parse(id)];
  lane.blocked = BlockReason::rate;
  lane.blocked_until = world.service().moment.wall + seconds{1};
  lane.tokens = 0.5;

  const Answer health = world.call("GET", path);
  EXPECT_EQ(health.status, 200) << health.body;
  EXPECT_EQ(health.at("recent.attempts"), "2");
  EXPECT_EQ(health.at("recent.success_rate"), "5E-1");
  EXPECT_EQ(health.at("recent.failures_by_category"), R"({"client_error":1})");
  EXPECT_EQ(health.at("recent.duration_ms.p50"), "1.5E0");
  EXPECT_EQ(health.at("last_7_days.deliveries"), "3");
  EXPECT_EQ(health.at("last_7_days.deliveries_succeeded"), "1");
  EXPECT_EQ(health.at("last_7_days.deliveries_failed"), "1");
  EXPECT_EQ(health.at("last_7_days.delivery_success_rate"), "5E-1");
  EXPECT_EQ(health.at("last_7_days.success_rate"), "5E-1");
  EXPECT_EQ(health.at("deliveries"), R"({"pending":1,"retrying":0,"dead_letter":1})");
  EXPECT_EQ(health.at("blocked.reason"), "rate");
  EXPECT_EQ(health.at("blocked.until"), "2026-01-01T00:00:01.000Z");
  EXPECT_EQ(health.at("rate_limit_tokens"), "5E-1");
  EXPECT_EQ(health.at("last_success_at"), "2026-01-01T00:00:00.000Z");
}

TEST(WebhookRoutes, ListsAndSingleReadsShowTheLatestResults) {
  ApiWorld world;
  const std::string failing = world.make_webhook(R"("tenant_id":"acme")");
  const std::string idle = world.make_webhook(R"("tenant_id":"other")");
  const auto deliver = [&](DeliveryState state, int http_status) {
    const std::string event = world.publish(R"({"type":"a","data":1,"tenant_id":"acme"})");
    world.settle(world.delivery_of(event), state, http_status);
  };
  deliver(DeliveryState::succeeded, 200);
  world.service().moment.wall += seconds{5};
  deliver(DeliveryState::retrying, 500);
  for (const Answer& one :
       {world.call("GET", "/v1/webhooks/" + failing), world.call("GET", "/v1/webhooks/" + idle)}) {
    const Answer listed =
        world.call("GET", "/v1/webhooks?tenant_id=" + one.at("tenant_id") + "&limit=1");
    for (const char* member : {"last_success_at", "last_failure_at"}) {
      EXPECT_EQ(listed.at(std::string{"data.0."} + member), one.at(member)) << one.body;
    }
  }
  const Answer all = world.call("GET", "/v1/webhooks");
  EXPECT_EQ(all.at("data.0.last_success_at"), "null") << "the newest webhook comes first";
  EXPECT_EQ(all.at("data.1.last_success_at"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(all.at("data.1.last_failure_at"), "2026-01-01T00:00:05.000Z");
}

TEST(WebhookRoutes, FailingStoreIsReportedAndNothingChanges) {
  ApiWorld world;
  const std::string path = "/v1/webhooks/" + world.make_webhook(R"("name":"a")");
  world.service().store_failure = Error{Errc::unavailable, "The store is failing."};
  for (const Answer& refused : {world.call("PATCH", path, R"({"name":"b"})"),
                                world.call("DELETE", path), world.call("POST", path + "/pause")}) {
    EXPECT_EQ(refused.status, 503);
    EXPECT_NE(refused.header("Retry-After"), "(none)");
  }
  world.service().store_failure.reset();
  EXPECT_EQ(world.call("GET", path).at("name"), "a");
}

}  // namespace
}  // namespace postrider::api
