// Deliveries, dead letters and operations through the router.
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const std::string event_body = R"({"type":"order.created","data":{"n":1}})";
const std::string unknown = "/v1/deliveries/dlv_00000000000000000000000000";

TEST(DeliveryRoutes, ListFindsADeliveryOrAnEventByItsId) {
  ApiWorld world;
  const std::string webhook = world.make_webhook();
  const std::string event = world.publish(event_body);
  const std::string id = world.delivery_of(event);
  const std::string other = world.delivery_of(world.publish(event_body));
  const auto list = [&](const std::string& query) {
    return world.call("GET", "/v1/deliveries?" + query);
  };
  for (const std::string& query :
       {"q=" + id, "q=" + event, "status=pending&q=" + id, "q=" + id + "&event_id=" + event,
        "q=" + id + "&webhook_id=" + webhook}) {
    const Answer listed = list(query);
    EXPECT_EQ(listed.at("data.0.id"), id) << query << listed.body;
    EXPECT_EQ(listed.at("data.1"), "(none)") << query;
    EXPECT_EQ(listed.at("next_cursor"), "null") << query;
  }
  const std::string elsewhere = "whk_00000000000000000000000000";
  for (const std::string& query :
       {"status=succeeded&q=" + id, "q=" + id + "&webhook_id=" + elsewhere,
        std::string{"q=dlv_00000000000000000000000000"}, "q=" + id + "&tenant_id=acme"}) {
    EXPECT_EQ(list(query).at("data"), "[]") << query;
  }
  EXPECT_EQ(list("q=" + id + "&event_id=evt_00000000000000000000000000").at("data"), "[]");
  EXPECT_EQ(list("q=order").status, 400);
  EXPECT_EQ(list("q=" + event + "&event_id=" + event).status, 400);
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + webhook + "/deliveries?q=" + other).at("data.0.id"),
            other);
}

TEST(DeliveryRoutes, DeliveryShowsItsAttemptsAndItsRequest) {
  ApiWorld world;
  world.make_webhook(R"("headers":{"Authorization":"Bearer hunter2","X-Plain":"p"})");
  const std::string event = world.publish(event_body);
  const std::string id = world.delivery_of(event);
  world.settle(id, DeliveryState::retrying, 500);
  world.settle(id, DeliveryState::succeeded, 200);

  const Answer delivery = world.call("GET", "/v1/deliveries/" + id);
  ASSERT_EQ(delivery.status, 200) << delivery.body;
  EXPECT_EQ(delivery.at("status"), "succeeded");
  EXPECT_EQ(delivery.at("attempt_count"), "2");
  EXPECT_EQ(delivery.at("attempts_total"), "2");
  EXPECT_EQ(delivery.at("last_error"), "null");
  EXPECT_EQ(delivery.at("last_duration_ms"), "1.5E0");
  EXPECT_EQ(delivery.at("webhook_url"), "https://example.com/");
  EXPECT_EQ(delivery.at("next_attempt_at"), "null");
  EXPECT_EQ(delivery.at("attempts.0.number"), "1");
  EXPECT_EQ(delivery.at("attempts.0.status"), "failed");
  EXPECT_EQ(delivery.at("attempts.0.failure_category"), "server_error");
  EXPECT_EQ(delivery.at("attempts.0.error_message"),
            "The receiver answered " + delivery.at("attempts.0.http_status") + ".");
  EXPECT_EQ(delivery.at("attempts.1.error_message"), "null");
  EXPECT_EQ(delivery.at("attempts.1.http_status"), "200");
  EXPECT_EQ(delivery.at("attempts.1.failure_category"), "null");
  EXPECT_EQ(delivery.at("attempts.1.duration_ms"), "1.5E0");
  EXPECT_EQ(delivery.at("attempts.1.response_sample"), "caf\uFFFD");
  EXPECT_EQ(delivery.at("attempts.1.response_headers"), R"({"Set-Cookie":"a, b"})");
  EXPECT_EQ(delivery.at("attempts.1.remote_ip"), "192.0.2.1");
  EXPECT_EQ(delivery.at("request.url"), "https://example.com/");
  EXPECT_EQ(delivery.at("request.headers.webhook-id"), event);
  EXPECT_EQ(delivery.at("request.headers.Host"), "example.com");
  EXPECT_EQ(delivery.at("request.headers.X-Plain"), "p");
  EXPECT_EQ(delivery.at("request.headers.X-Webhook-Attempt"), "2");
  EXPECT_EQ(delivery.at("request.headers.webhook-signature"), "[not kept]");
  EXPECT_EQ(delivery.at("request.headers.Authorization"), "[hidden]");
  EXPECT_NE(delivery.at("request.headers.X-Idempotency-Key"), "[hidden]");
  EXPECT_NE(delivery.at("request.body").find(R"("data":{"n":1})"), std::string::npos);
  EXPECT_EQ(delivery.body.find("hunter2"), std::string::npos);
  EXPECT_EQ(delivery.at("attempts.0.request.headers.X-Webhook-Attempt"), "1");
  EXPECT_EQ(delivery.at("attempts.1.request.headers"), delivery.at("request.headers"));
  EXPECT_EQ(delivery.at("attempts.0.request.method"), "POST");
  EXPECT_EQ(delivery.body.find(R"("body")"), delivery.body.rfind(R"("body")"));
}

TEST(DeliveryRoutes, AttemptShowsTheRequestThatItSent) {
  ApiWorld world;
  const std::string webhook = world.make_webhook(R"("payload_format":"raw")");
  const std::string id = world.delivery_of(world.publish(event_body));
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + id).at("request"), "null");
  world.settle(id, DeliveryState::retrying, 500);
  ASSERT_EQ(world
                .call("PATCH", "/v1/webhooks/" + webhook,
                      R"({"url":"https://example.com/new","payload_format":"workspace",)"
                      R"("headers":{"X-New":"n"}})")
                .status,
            200);
  world.settle(id, DeliveryState::succeeded, 200);
  ASSERT_EQ(world.call("DELETE", "/v1/webhooks/" + webhook).status, 204);

  const Answer delivery = world.call("GET", "/v1/deliveries/" + id);
  EXPECT_EQ(delivery.at("request.url"), "https://example.com/new");
  EXPECT_EQ(delivery.at("request.headers.X-New"), "n");
  EXPECT_EQ(delivery.at("request.body"), R"({"event_type":"order.created","data":{"n":1}})");
  EXPECT_EQ(delivery.at("attempts.0.request.url"), "https://example.com/");
  EXPECT_EQ(delivery.at("attempts.0.request.body"), R"({"n":1})");
  EXPECT_EQ(delivery.at("attempts.0.request.headers").find("X-New"), std::string::npos);
  EXPECT_EQ(delivery.at("attempts.1.request.url"), "https://example.com/new");
}

TEST(DeliveryRoutes, AttemptThatSentNothingHasNoRequest) {
  ApiWorld world;
  const std::string webhook = world.make_webhook();
  const std::string id = world.delivery_of(world.publish(event_body));
  ASSERT_EQ(world.call("DELETE", "/v1/webhooks/" + webhook).status, 204);
  world.settle(id, DeliveryState::cancelled, 500);  // Without the webhook there is no request.
  const Answer delivery = world.call("GET", "/v1/deliveries/" + id);
  EXPECT_EQ(delivery.at("request"), "null");
  EXPECT_EQ(delivery.at("attempts.0.request"), "null");
}

TEST(DeliveryRoutes, WaitingDeliveryShowsTheStateOfItsLane) {
  ApiWorld world;
  const std::string webhook = world.make_webhook();
  const std::string sending = world.delivery_of(world.publish(event_body));
  const std::string waiting = world.delivery_of(world.publish(event_body));
  const std::string done = world.delivery_of(world.publish(event_body));
  world.settle(done, DeliveryState::succeeded, 200);
  LaneView& lane = world.service().lanes[*WebhookId::parse(webhook)];
  lane.in_flight = {*DeliveryId::parse(sending), *DeliveryId::parse(done)};
  lane.blocked = BlockReason::circuit;
  lane.blocked_until = world.service().moment.wall + seconds{30};

  const Answer list = world.call("GET", "/v1/deliveries");
  EXPECT_EQ(list.at("data.0.status"), "succeeded");
  EXPECT_EQ(list.at("data.0.blocked"), "null");
  EXPECT_EQ(list.at("data.1.status"), "pending");
  EXPECT_EQ(list.at("data.1.blocked.reason"), "circuit");
  EXPECT_EQ(list.at("data.1.blocked.until"), "2026-01-01T00:00:30.000Z");
  EXPECT_EQ(list.at("data.2.status"), "in_flight");
  EXPECT_EQ(list.at("data.2.blocked"), "null");
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + sending).at("status"), "in_flight");
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + waiting).at("blocked.reason"), "circuit");

  // A delivery that is due later than the lane's block is not reported as blocked.
  lane.blocked_until = world.service().moment.wall - seconds{1};
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + waiting).at("blocked"), "null");
  lane.blocked_until.reset();
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + waiting).at("blocked.until"), "null");
}

TEST(DeliveryRoutes, WebhookListsOnlyItsOwnDeliveries) {
  ApiWorld world;
  const std::string first = world.make_webhook();
  const std::string event = world.publish(event_body);
  const std::string second = world.make_webhook();
  world.publish(event_body);
  const Answer mine = world.call("GET", "/v1/webhooks/" + second + "/deliveries");
  EXPECT_EQ(mine.at("data.0.webhook_id"), second);
  EXPECT_EQ(mine.at("data.1"), "(none)");
  const Answer page = world.call("GET", "/v1/webhooks/" + first + "/deliveries?limit=1");
  const Answer next = world.call(
      "GET", "/v1/webhooks/" + first + "/deliveries?limit=1&cursor=" + page.at("next_cursor"));
  EXPECT_EQ(next.at("data.0.event_id"), event);
  EXPECT_EQ(next.at("next_cursor"), "null");
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + first + "/deliveries?webhook_id=" + second).status,
            400);
}

TEST(DeliveryRoutes, ListsDeadLettersByReasonAndAge) {
  ApiWorld world;
  world.make_webhook();
  const std::string id = world.delivery_of(world.publish(event_body));
  world.publish(event_body);
  world.settle(id, DeliveryState::dead_letter, 404);
  const Answer list = world.call("GET", "/v1/dlq");
  EXPECT_EQ(list.at("data.0.id"), id);
  EXPECT_EQ(list.at("data.1"), "(none)");
  EXPECT_EQ(list.at("data.0.dead_letter"),
            R"({"classification":"permanent","reason":"permanent_client_error_404"})");
  EXPECT_EQ(list.at("data.0.failure_category"), "client_error");
  EXPECT_EQ(list.at("data.0.http_status"), "404");
  const auto found = [&](const std::string& query) {
    return world.call("GET", "/v1/dlq?" + query).at("data.0.id") == id;
  };
  EXPECT_TRUE(found("classification=permanent"));
  EXPECT_FALSE(found("classification=recoverable"));
  EXPECT_TRUE(found("failure_category=dns,client_error"));
  EXPECT_FALSE(found("failure_category=dns"));
  EXPECT_TRUE(found("age=lt_1h"));
  world.service().moment.wall += hours{2};
  EXPECT_FALSE(found("age=lt_1h"));
  EXPECT_TRUE(found("age=1h_24h"));
  world.service().moment.wall += hours{24};
  EXPECT_TRUE(found("age=gt_24h"));
}

TEST(DeliveryRoutes, RetryKeepsTheDeliveryAndItsHistory) {
  ApiWorld world;
  const std::string webhook = world.make_webhook();
  const std::string id = world.delivery_of(world.publish(event_body));
  world.settle(id, DeliveryState::dead_letter, 404);
  const std::string paths[] = {"/v1/dlq/" + id + "/retry", "/v1/deliveries/" + id + "/retry",
                               "/v1/webhooks/" + webhook + "/deliveries/" + id + "/retry"};
  for (const std::string& path : paths) {
    const Answer revived = world.call("POST", path, R"({"priority":"high"})");
    ASSERT_EQ(revived.status, 202) << path << " " << revived.body;
    EXPECT_EQ(revived.at("delivery_id"), id);
    EXPECT_EQ(revived.at("status"), "pending");
    EXPECT_EQ(revived.at("priority"), "high");
    world.settle(id, DeliveryState::dead_letter, 404);
  }
  EXPECT_EQ(world.call("GET", "/v1/deliveries/" + id).at("attempts.3.number"), "4");
}

TEST(DeliveryRoutes, RejectsAnImpossibleRetry) {
  ApiWorld world;
  world.make_webhook();
  const std::string id = world.delivery_of(world.publish(event_body));
  const std::string other = world.make_webhook();
  const Answer alive = world.call("POST", "/v1/dlq/" + id + "/retry");
  EXPECT_EQ(alive.status, 409);
  EXPECT_EQ(alive.at("code"), "not_a_dead_letter");
  EXPECT_EQ(world.call("POST", "/v1/webhooks/" + other + "/deliveries/" + id + "/retry").status,
            404);
  EXPECT_EQ(world.call("POST", unknown + "/retry").status, 404);
  EXPECT_EQ(world.call("POST", "/v1/dlq/nonsense/retry").status, 404);
  const std::string path = "/v1/deliveries/" + id + "/retry";
  EXPECT_EQ(world.call("POST", path, R"({"priority":"urgent"})").at("errors.0.field"), "priority");
  EXPECT_EQ(world.call("POST", path, R"({"when":1})").at("errors.0.field"), "when");
  EXPECT_EQ(world.call("POST", path, "{").status, 400);
}

TEST(DeliveryRoutes, RejectsCancellingTwice) {
  ApiWorld world;
  world.make_webhook();
  const std::string id = world.delivery_of(world.publish(event_body));
  const std::string path = "/v1/deliveries/" + id + "/cancel";
  EXPECT_EQ(world.call("POST", path, R"({"x":1})").status, 422);
  const Answer cancelled = world.call("POST", path);
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(cancelled.at("status"), "cancelled");
  EXPECT_EQ(world.call("POST", path).status, 409);
  EXPECT_EQ(world.call("POST", unknown + "/cancel").status, 404);
}

TEST(Routes, HealthReadinessAndThePageNeedNoKey) {
  ApiWorld world;
  for (const char* path : {"/healthz", "/readyz", "/"}) {
    EXPECT_EQ(world.call("GET", path, "", {{"authorization", ""}}).status, 200) << path;
  }
  world.service().why_not_ready = "The store cannot be written.";
  const Answer unready = world.call("GET", "/readyz");
  EXPECT_EQ(unready.status, 503);
  EXPECT_EQ(unready.at("detail"), "The store cannot be written.");
  EXPECT_EQ(world.call("GET", "/healthz").status, 200);
}

TEST(Routes, AllOtherRoutesNeedAKey) {
  ApiWorld world;
  const std::string hook = "/v1/webhooks/whk_00000000000000000000000000";
  const std::pair<const char*, std::string> requests[] = {
      {"GET", "/metrics"},
      {"POST", "/v1/webhooks"},
      {"GET", "/v1/webhooks"},
      {"GET", hook},
      {"PUT", hook},
      {"PATCH", hook},
      {"DELETE", hook},
      {"GET", hook + "/health"},
      {"PATCH", hook + "/circuit-breaker"},
      {"POST", hook + "/pause"},
      {"POST", hook + "/resume"},
      {"GET", hook + "/deliveries"},
      {"POST", hook + "/deliveries/dlv_00000000000000000000000000/retry"},
      {"POST", "/v1/events"},
      {"POST", "/v1/events/batch"},
      {"GET", "/v1/events"},
      {"GET", "/v1/events/x"},
      {"GET", "/v1/deliveries"},
      {"GET", unknown},
      {"POST", unknown + "/retry"},
      {"POST", unknown + "/cancel"},
      {"GET", "/v1/dlq"},
      {"POST", "/v1/dlq/x/retry"},
  };
  for (const auto& [method, path] : requests) {
    const Answer answer = world.call(method, path, "{}", {{"authorization", "Bearer wrong"}});
    EXPECT_EQ(answer.status, 401) << method << " " << path;
    EXPECT_NE(answer.header("WWW-Authenticate"), "(none)");
  }
}

TEST(DeliveryRoutes, HistoryOfADeletedWebhookIsStillListed) {
  ApiWorld world;
  const std::string webhook = world.make_webhook();
  const std::string event = world.publish(R"({"type":"a.b","data":1})");
  const std::string path = "/v1/webhooks/" + webhook + "/deliveries";
  EXPECT_EQ(world.call("DELETE", "/v1/webhooks/" + webhook).status, 204);
  const Answer listed = world.call("GET", path);
  ASSERT_EQ(listed.status, 200) << listed.body;
  EXPECT_EQ(listed.at("data.0.event_id"), event);
  EXPECT_EQ(listed.at("data.0.status"), "cancelled");
  EXPECT_EQ(world.call("GET", "/v1/webhooks/" + webhook).status, 404);
  EXPECT_EQ(world.call("GET", "/v1/webhooks/whk_00000000000000000000000000/deliveries").status,
            404);
}

}  // namespace
}  // namespace postrider::api
