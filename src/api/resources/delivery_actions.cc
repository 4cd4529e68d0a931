#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

enum class Retryable : std::uint8_t { any, dead_letter };

/// If `webhook_id` is set, the delivery must belong to this webhook.
struct RetryRequest {
  DeliveryId delivery_id;
  std::optional<WebhookId> webhook_id;
  std::optional<Priority> priority;
  Retryable which = Retryable::any;
};

Parsed<std::optional<Priority>> read_priority(const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_optional_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  const JsonField<Priority> priority =
      reader.choice("priority", parse_priority, "high, normal, low");
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return priority.value;
}

Parsed<RetryRequest> read_retry_request(const HttpRequest& request, const std::string& parameter,
                                        Retryable which) {
  POSTRIDER_TRY(const DeliveryId id, path_id<DeliveryId>(request, parameter, "delivery"));
  POSTRIDER_TRY(const std::optional<Priority> priority, read_priority(request));
  return RetryRequest{
      .delivery_id = id, .webhook_id = std::nullopt, .priority = priority, .which = which};
}

Parsed<void> check_retry(const RetryRequest& asked, const DeliveryRecord& record,
                         const Directory& directory) {
  const Delivery& delivery = record.delivery;
  if (asked.webhook_id && delivery.webhook_id != *asked.webhook_id) {
    return tl::make_unexpected(not_found("delivery", asked.delivery_id.to_string()));
  }
  if (asked.which == Retryable::dead_letter && delivery.state != DeliveryState::dead_letter) {
    return tl::make_unexpected(
        conflict("not_a_dead_letter", "This delivery is not a dead letter; it is " +
                                          std::string{to_string(delivery.state)} + "."));
  }
  if (directory.find(delivery.webhook_id) == nullptr) {
    return tl::make_unexpected(
        conflict("webhook_deleted",
                 "The webhook of this delivery was deleted. The delivery cannot be sent."));
  }
  return {};
}

std::string write_delivery(const Delivery& delivery) {
  const bool waiting = is_waiting(delivery.state);
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("delivery_id", delivery.id);
  writer.member("event_id", delivery.event_id);
  writer.member("webhook_id", delivery.webhook_id);
  writer.member("status", to_string(delivery.state));
  writer.member("priority", to_string(delivery.priority));
  writer.member("attempt_count", delivery.budget_used);
  writer.member("attempts_total", delivery.attempt_count);
  writer.member("next_attempt_at", waiting ? std::optional{delivery.due} : std::nullopt);
  writer.close_object();
  return body;
}

Reply answer_delivery(std::uint16_t status, const Result<Delivery>& delivery, DeliveryId id) {
  if (delivery) {
    return json_answer(status, write_delivery(*delivery));
  }
  return tl::make_unexpected(to_problem(delivery.error(), "delivery", id.to_string()));
}

Awaitable<Reply> retry(Context context, RetryRequest asked) {
  const auto query = [id = asked.delivery_id](Reader& reader) {
    return reader.history->find_delivery(id);
  };
  auto pending_record = context.queries().read(query);
  const Result<DeliveryRecord> record = co_await std::move(pending_record);
  if (!record) {
    co_return tl::make_unexpected(
        to_problem(record.error(), "delivery", asked.delivery_id.to_string()));
  }
  const auto directory = context.services.snapshots.directory();
  POSTRIDER_CO_CHECK(check_retry(asked, *record, *directory));
  const Revive revive{.delivery_id = asked.delivery_id,
                      .now = context.services.clock.now().wall,
                      .priority = asked.priority,
                      .trigger = Trigger::manual};
  AuditEntry entry = audit_entry(context, {.action = "delivery.retry",
                                           .subject = asked.delivery_id.to_string(),
                                           .tenant_id = record->tenant_id});
  auto pending = context.services.deliveries.revive(revive, std::move(entry));
  const Result<Delivery> revived = co_await std::move(pending);
  co_return answer_delivery(202, revived, asked.delivery_id);
}

}  // namespace

Awaitable<Reply> retry_delivery(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const RetryRequest asked, read_retry_request(request, "id", Retryable::any));
  auto pending = retry(context, asked);
  co_return co_await std::move(pending);
}

Awaitable<Reply> retry_webhook_delivery(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  POSTRIDER_CO_TRY(RetryRequest asked, read_retry_request(request, "delivery_id", Retryable::any));
  asked.webhook_id = webhook->id;
  auto pending = retry(context, asked);
  co_return co_await std::move(pending);
}

Awaitable<Reply> retry_dead_letter(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const RetryRequest asked,
                   read_retry_request(request, "delivery_id", Retryable::dead_letter));
  auto pending = retry(context, asked);
  co_return co_await std::move(pending);
}

Awaitable<Reply> cancel_delivery(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const DeliveryId id, path_id<DeliveryId>(request, "id", "delivery"));
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  const auto query = [id](Reader& reader) { return reader.history->find_delivery(id); };
  auto looking = context.queries().read(query);
  const Result<DeliveryRecord> record = co_await std::move(looking);
  if (!record) {
    co_return answer_delivery(200, tl::make_unexpected(record.error()), id);
  }
  AuditEntry entry = audit_entry(
      context,
      {.action = "delivery.cancel", .subject = id.to_string(), .tenant_id = record->tenant_id});
  auto pending = context.services.deliveries.cancel(id, std::move(entry));
  const Result<Delivery> cancelled = co_await std::move(pending);
  co_return answer_delivery(200, cancelled, id);
}

}  // namespace postrider::api
