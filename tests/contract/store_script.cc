#include "tests/contract/store_script.h"

#include <utility>

namespace postrider::test {

RequestShapeRef sample_shape(const std::string& url) {
  return std::make_shared<const RequestShape>(
      RequestShape{.url = url,
                   .head = "POST /hook HTTP/1.1\r\nX-Url: " + url + "\r\n",
                   .signature = {.scheme = SignatureScheme::sha256_body,
                                 .header_prefix = "X-Shape-",
                                 .standard_headers = false,
                                 .prefixed_headers = true,
                                 .header_set = HeaderSet::tenant},
                   .body = {.format = PayloadFormat::raw, .form = PayloadForm::compact},
                   .next_signature_until = wall_from_unix_ms(1'767'268'800'000)});
}

WebhookId StoreScript::webhook(std::uint8_t number) {
  WebhookId id;
  id.bytes = {1, 2, 3, 4, 5, 6, 0x70, 8, 0x80, 10, 11, 12, 13, 14, 15, number};
  return id;
}

Publish StoreScript::publish(const std::vector<WebhookId>& to, const PublishOptions& options) {
  Publish publish;
  publish.event = {.id = ids_.make<EventId>(now),
                   .tenant_id = options.tenant_id,
                   .type = options.type,
                   .data = options.data,
                   .idempotency_key = options.key.value_or("made"),
                   .resource_id = options.resource_id,
                   .priority = options.priority,
                   .timestamp = now - Millis{5},
                   .created_at = now};
  for (const WebhookId& webhook_id : to) {
    publish.deliveries.push_back({.id = ids_.make<DeliveryId>(now),
                                  .event_id = publish.event.id,
                                  .webhook_id = webhook_id,
                                  .event_type = options.type,
                                  .priority = options.priority,
                                  .due = now + options.due_in});
  }
  if (options.key) {
    publish.claim = {*options.key, options.body_digest, now + claim_life};
  }
  publish.atomic_group = options.atomic_group;
  return publish;
}

AddLateDelivery StoreScript::add_late_delivery(EventId event, WebhookId to) {
  return {.delivery = {.id = ids_.make<DeliveryId>(now),
                       .event_id = event,
                       .webhook_id = to,
                       .event_type = "order.created",
                       .trigger = Trigger::replay,
                       .due = now},
          .now = now};
}

Settlement StoreScript::settle(Delivery delivery, DeliveryState state,
                               std::optional<FailureCategory> failure) {
  delivery.state = state;
  delivery.trigger = Trigger::scheduled;
  ++delivery.attempt_count;
  ++delivery.budget_used;
  Settlement settlement;
  settlement.attempt = attempt(delivery.attempt_count, failure);
  settlement.delivery = std::move(delivery);
  settlement.request = request;
  return settlement;
}

Settlement StoreScript::success(Delivery delivery) {
  return settle(std::move(delivery), DeliveryState::succeeded, std::nullopt);
}

Settlement StoreScript::retry(Delivery delivery, WallTime due) {
  Settlement settlement =
      settle(std::move(delivery), DeliveryState::retrying, FailureCategory::server_error);
  settlement.delivery.due = due;
  settlement.attempt->next_retry_at = due;
  return settlement;
}

Settlement StoreScript::death(Delivery delivery, DeadReason why) {
  Settlement settlement =
      settle(std::move(delivery), DeliveryState::dead_letter, FailureCategory::client_error);
  settlement.dead = std::move(why);
  return settlement;
}

Attempt StoreScript::attempt(std::uint32_t number, std::optional<FailureCategory> failure) {
  Attempt attempt;
  attempt.id = ids_.make<AttemptId>(now);
  attempt.number = number;
  attempt.trigger = Trigger::manual;
  attempt.scheduled_at = now - Millis{3};
  attempt.failure_category = failure;
  attempt.outcome = {.http_status = failure ? 500 : 200,
                     .failure = std::nullopt,
                     .error_message = failure ? "It failed." : "",
                     .response_sample = std::string("a\0\xff z", 5),
                     .response_headers = {{"content-type", "text/plain"}, {"x-empty", ""}},
                     .retry_after = failure ? std::optional{Millis{0}} : std::nullopt,
                     .remote_ip = "2001:db8::1",
                     .timings = {Micros{1}, Micros{20}, Micros{300}, Micros{4'000'000'000}},
                     .executed_at = now,
                     .duration = Micros{2'500}};
  return attempt;
}

Webhook sample_webhook(WebhookId id) {
  Webhook webhook;
  webhook.id = id;
  webhook.tenant_id = "acme";
  webhook.url = "https://example.com/hook";
  webhook.events = {*EventPattern::parse("order.*"), *EventPattern::parse("swap.created")};
  webhook.secret = Secret<std::string>{std::string("\0secret\xff", 8)};
  webhook.created_at = store_epoch;
  webhook.updated_at = store_epoch + Millis{1};
  return webhook;
}

}  // namespace postrider::test
