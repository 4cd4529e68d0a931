// GET /v1/stream without a socket: its checks, and the text of its events.
#include <gtest/gtest.h>

#include "api/json/stream_json.h"
#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

TEST(StreamRoutes, RejectsUnknownFilters) {
  ApiWorld world;
  for (const auto& [query, field] :
       {std::pair{"status=lost", "status"}, std::pair{"webhook_id=42", "webhook_id"},
        std::pair{"limit=3", "limit"}}) {
    const Answer answer = world.call("GET", "/v1/stream?" + std::string{query});
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(answer.at("errors.0.field"), field);
  }
}

TEST(StreamRoutes, AnswersWithAnEventStreamAndReleasesItsSlot) {
  ApiWorld world;
  const Answer answer = world.call("GET", "/v1/stream?status=succeeded");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "text/event-stream");
  EXPECT_EQ(world.service().hub.subscribers(), 0u) << "the response is gone";
}

TEST(StreamRoutes, TooManyStreamsGetRetryAfter) {
  ApiWorld world;
  std::vector<std::unique_ptr<StreamHub::Subscription>> taken;
  for (int i = 0; i < 256; ++i) {
    taken.push_back(world.service().hub.subscribe({}, std::nullopt, [] {}).value());
  }
  const Answer answer = world.call("GET", "/v1/stream");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.at("code"), "too_many_streams");
  EXPECT_NE(answer.header("Retry-After"), "");
}

TEST(StreamJson, DeliveryIsOneLineOfJsonWithItsPosition) {
  Settlement settlement;
  settlement.delivery.event_type = "order.paid";
  settlement.delivery.state = DeliveryState::dead_letter;
  settlement.delivery.attempt_count = 2;
  settlement.delivery.budget_used = 1;
  settlement.attempt = Attempt{.number = 2};
  settlement.attempt->failure_category = FailureCategory::client_error;
  settlement.attempt->outcome.http_status = 404;
  settlement.attempt->outcome.duration = Micros{1500};
  settlement.attempt->outcome.executed_at = wall_from_unix_ms(1'700'000'000'000);
  settlement.dead = DeadReason{Classification::permanent, "permanent_client_error_404"};
  EXPECT_EQ(
      write_stream_event({0xab, 7}, stream_events_of(settlement, "acme")),
      "id: ab-7\nevent: delivery\n"
      R"(data: {"at":"2023-11-14T22:13:20.000Z","webhook_id":"whk_00000000000000000000000000",)"
      R"("tenant_id":"acme","delivery_id":"dlv_00000000000000000000000000",)"
      R"("event_id":"evt_00000000000000000000000000","event_type":"order.paid",)"
      R"("status":"dead_letter","trigger":"scheduled","attempt_count":1,"attempts_total":2,)"
      R"("next_attempt_at":null,"attempt":{"number":2,"status":"failed",)"
      R"("failure_category":"client_error","http_status":404,"duration_ms":1.5},)"
      R"("dead_letter":{"classification":"permanent","reason":"permanent_client_error_404"}})"
      "\n\n");
}

TEST(StreamJson, WritesNewDeliveriesOfOneWebhookOrOfSeveral) {
  StreamEvent created{.at = wall_from_unix_ms(0),
                      .webhook_id = WebhookId{},
                      .tenant_id = "acme",
                      .what = DeliveriesCreated{.event_type = "order.paid", .count = 3}};
  EXPECT_EQ(
      write_stream_event({1, 2}, created),
      "id: 1-2\nevent: created\n"
      R"(data: {"at":"1970-01-01T00:00:00.000Z","webhook_id":"whk_00000000000000000000000000",)"
      R"("tenant_id":"acme","event_type":"order.paid","count":3})"
      "\n\n");
  created.webhook_id.reset();
  EXPECT_NE(write_stream_event({1, 3}, created).find(R"("webhook_id":null,"tenant_id":"acme")"),
            std::string::npos);
}

TEST(StreamJson, WritesCircuitChangesAndAlerts) {
  const StreamEvent circuit{.at = wall_from_unix_ms(0),
                            .webhook_id = WebhookId{},
                            .tenant_id = "",
                            .what = CircuitUpdate{CircuitState::closed, CircuitState::open}};
  EXPECT_EQ(
      write_stream_event({1, 2}, circuit),
      "id: 1-2\nevent: circuit\n"
      R"(data: {"at":"1970-01-01T00:00:00.000Z","webhook_id":"whk_00000000000000000000000000",)"
      R"("tenant_id":null,"from":"closed","to":"open"})"
      "\n\n");
  StreamEvent alert = circuit;
  alert.what = AlertUpdate{AlertKind::circuit_opened, "five\nfailures"};
  EXPECT_NE(write_stream_event({1, 3}, alert)
                .find(R"("kind":"circuit_opened","detail":"five\nfailures"})"),
            std::string::npos);
  EXPECT_EQ(write_notice("reset", "Load anew."),
            "event: reset\ndata: {\"detail\":\"Load anew.\"}\n\n");
}

}  // namespace
}  // namespace postrider::api
