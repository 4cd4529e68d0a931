#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

enum class RetryOf : std::uint8_t { any, dead_letter };

/// What a retry is asked for. `webhook_id`: the delivery must be one of this webhook.
struct RetryRequest {
  DeliveryId delivery_id;
  std::optional<WebhookId> webhook_id;
  std::optional<Priority> priority;
  RetryOf of = RetryOf::any;
};

Parsed<std::optional<Priority>> read_priority(const HttpRequest& request) {
  Parsed<std::vector<JsonMember>> members = read_optional_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  FieldErrors errors;
  ObjectReader reader{*std::move(members), "", errors};
  const Given<Priority> priority = reader.choice("priority", parse_priority, "high, normal, low");
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return priority.value;
}

Parsed<RetryRequest> read_retry_request(const HttpRequest& request, const std::string& parameter,
                                        RetryOf of) {
  const Parsed<DeliveryId> id = path_id<DeliveryId>(request, parameter, "delivery");
  if (!id) {
    return tl::make_unexpected(id.error());
  }
  const Parsed<std::optional<Priority>> priority = read_priority(request);
  if (!priority) {
    return tl::make_unexpected(priority.error());
  }
  return RetryRequest{
      .delivery_id = *id, .webhook_id = std::nullopt, .priority = *priority, .of = of};
}

/// nullopt: it may be retried.
std::optional<Problem> retry_problem(const RetryRequest& asked, const DeliveryRecord& record,
                                     const Directory& directory) {
  const Delivery& delivery = record.delivery;
  if (asked.webhook_id && delivery.webhook_id != *asked.webhook_id) {
    return not_found("delivery", asked.delivery_id.to_string());
  }
  if (asked.of == RetryOf::dead_letter && delivery.state != DeliveryState::dead_letter) {
    return conflict("not_a_dead_letter", "This delivery is not a dead letter; it is " +
                                             std::string{to_string(delivery.state)} + ".");
  }
  if (directory.find(delivery.webhook_id) == nullptr) {
    return conflict("webhook_deleted",
                    "The webhook of this delivery has been deleted; there is nowhere to send it.");
  }
  return std::nullopt;
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
  writer.member("attempt_count", delivery.attempt_count);
  writer.member("next_attempt_at", waiting ? std::optional{delivery.due} : std::nullopt);
  writer.close_object();
  return body;
}

HttpResponse answer_delivery(std::uint16_t status, const Result<Delivery>& delivery,
                             DeliveryId id) {
  if (delivery) {
    return json_answer(status, write_delivery(*delivery));
  }
  if (delivery.error().code == Errc::not_found) {
    return render(not_found("delivery", id.to_string()));
  }
  return render(to_problem(delivery.error()));
}

Awaitable<HttpResponse> retry(Context context, RetryRequest asked) {
  const auto query = [id = asked.delivery_id](Reader& reader) {
    return reader.history->find_delivery(id);
  };
  auto pending_record = context.service->read(query);
  const Result<DeliveryRecord> record = co_await std::move(pending_record);
  if (!record && record.error().code == Errc::not_found) {
    co_return render(not_found("delivery", asked.delivery_id.to_string()));
  }
  if (!record) {
    co_return render(to_problem(record.error()));
  }
  const auto directory = context.service->directory();
  if (const std::optional<Problem> problem = retry_problem(asked, *record, *directory)) {
    co_return render(*problem);
  }
  const Revive revive{.delivery_id = asked.delivery_id,
                      .now = context.service->now().wall,
                      .priority = asked.priority,
                      .trigger = Trigger::manual};
  AuditEntry entry = audit_entry(context, {.action = "delivery.retry",
                                           .subject = asked.delivery_id.to_string(),
                                           .tenant_id = record->tenant_id});
  auto pending = context.service->revive(revive, std::move(entry));
  const Result<Delivery> revived = co_await std::move(pending);
  co_return answer_delivery(202, revived, asked.delivery_id);
}

}  // namespace

Awaitable<HttpResponse> retry_delivery(Context context, HttpRequest request) {
  const Parsed<RetryRequest> asked = read_retry_request(request, "id", RetryOf::any);
  if (!asked) {
    co_return render(asked.error());
  }
  auto pending = retry(context, *asked);
  co_return co_await std::move(pending);
}

Awaitable<HttpResponse> retry_webhook_delivery(Context context, HttpRequest request) {
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  Parsed<RetryRequest> asked = read_retry_request(request, "delivery_id", RetryOf::any);
  if (!asked) {
    co_return render(asked.error());
  }
  asked->webhook_id = (*webhook)->id;
  auto pending = retry(context, *asked);
  co_return co_await std::move(pending);
}

Awaitable<HttpResponse> retry_dead_letter(Context context, HttpRequest request) {
  const Parsed<RetryRequest> asked =
      read_retry_request(request, "delivery_id", RetryOf::dead_letter);
  if (!asked) {
    co_return render(asked.error());
  }
  auto pending = retry(context, *asked);
  co_return co_await std::move(pending);
}

Awaitable<HttpResponse> cancel_delivery(Context context, HttpRequest request) {
  const Parsed<DeliveryId> id = path_id<DeliveryId>(request, "id", "delivery");
  if (!id) {
    co_return render(id.error());
  }
  if (const std::optional<Problem> problem = parameter_problem(request)) {
    co_return render(*problem);
  }
  const auto query = [id = *id](Reader& reader) { return reader.history->find_delivery(id); };
  auto looking = context.service->read(query);
  const Result<DeliveryRecord> record = co_await std::move(looking);
  if (!record) {
    co_return answer_delivery(200, tl::make_unexpected(record.error()), *id);
  }
  AuditEntry entry = audit_entry(
      context,
      {.action = "delivery.cancel", .subject = id->to_string(), .tenant_id = record->tenant_id});
  auto pending = context.service->cancel(*id, std::move(entry));
  const Result<Delivery> cancelled = co_await std::move(pending);
  co_return answer_delivery(200, cancelled, *id);
}

}  // namespace postrider::api
