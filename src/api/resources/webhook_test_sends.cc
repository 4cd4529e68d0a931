#include <algorithm>

#include <fmt/format.h>

#include "core/filter/event_pattern.h"

#include "api/json/delivery_json.h"
#include "api/json/event_json.h"
#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/json/request_json.h"
#include "api/resources/answers.h"
#include "api/resources/api_shares.h"
#include "api/resources/audit.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"
#include "api/resources/verification.h"
#include "api/resources/webhook_answer.h"

namespace postrider::api {
namespace {

constexpr std::string_view test_type = "postrider.test";
constexpr std::string_view test_data = R"({"message":"This is a test."})";

void read_test_type(ObjectReader& reader, Event& event) {
  const std::optional<std::string_view> slice = reader.raw("event_type");
  if (!slice || *slice == "null") {
    return;
  }
  std::optional<std::string> type = decode_json_string(*slice);
  if (!type || !is_event_type(*type)) {
    reader.refuse("event_type",
                  fmt::format("must be 1 to {} letters, digits, `_`, `-` and single dots, such as "
                              "order.created.",
                              event_type_length_max));
    return;
  }
  event.type = *std::move(type);
}

Parsed<Event> read_test(const Context& context, const HttpRequest& request,
                        const Webhook& webhook) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_optional_body(request));
  Event event;
  event.type = test_type;
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  read_test_type(reader, event);
  event.data = reader.raw("data").value_or(test_data);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  event.id = EventId{context.services.ids.new_uuid()};
  event.tenant_id = webhook.tenant_id;
  event.resource_id = webhook.resource_id;
  event.idempotency_key = generated_key(event.id);
  event.priority = Priority::high;
  event.created_at = context.services.clock.now().wall;
  event.timestamp = event.created_at;
  return event;
}

/// Fails if the lane would not send a test soon. A lane that is only busy sends it in its turn.
Parsed<void> check_lane(const LaneView& lane) {
  switch (lane.blocked) {
    case BlockReason::paused:
      return tl::make_unexpected(
          conflict("webhook_paused", "The webhook is paused. Resume it first."));
    case BlockReason::inactive:
      return tl::make_unexpected(
          conflict("webhook_inactive", "The webhook is not active. Set `active` to true first."));
    case BlockReason::circuit: {
      const std::string until =
          lane.blocked_until ? " until " + to_rfc3339(*lane.blocked_until) : std::string{};
      return tl::make_unexpected(conflict(
          "circuit_open", "The webhook's circuit is open" + until + ". Reset it, or wait."));
    }
    case BlockReason::store:
    case BlockReason::drain:
      return tl::make_unexpected(
          to_problem(Error{Errc::unavailable, "The server cannot send anything now. Retry soon."}));
    case BlockReason::none:
    case BlockReason::suspended:  // Checked before, by check_not_suspended.
    case BlockReason::rate:
    case BlockReason::slots:
    case BlockReason::order:
      break;
  }
  return {};
}

/// A test that an earlier request sent.
struct EarlierTest {
  Event event;
  TestSent sent;
};

Result<EarlierTest> read_earlier(History& history, EventId id) {
  POSTRIDER_TRY(Event event, history.find_event(id));
  DeliveryFilter filter;
  filter.event_id = id;
  POSTRIDER_TRY(const Listed<DeliveryRecord> deliveries, history.list_deliveries(filter, {}));
  if (deliveries.items.empty()) {
    return fail(Errc::not_found, "The test was removed.");
  }
  EarlierTest earlier{.event = std::move(event),
                      .sent = {.delivery_id = deliveries.items.front().delivery.id}};
  POSTRIDER_TRY(const std::vector<Attempt> attempts, history.attempts_of(earlier.sent.delivery_id));
  if (!attempts.empty()) {  // Later attempts come from manual retries.
    POSTRIDER_TRY(auto requests, history.requests_of(earlier.sent.delivery_id));
    earlier.sent.attempt = attempts.front();
    if (const auto shape = requests.find(attempts.front().number); shape != requests.end()) {
      earlier.sent.request = std::make_shared<const RequestShape>(std::move(shape->second));
    }
  }
  return earlier;
}

HttpResponse answer_test(const Event& event, const TestSent& sent) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("event_id", event.id);
  writer.member("delivery_id", sent.delivery_id);
  writer.key("attempt");
  if (sent.attempt) {
    open_attempt(writer, *sent.attempt);
    writer.key("request");
    const RequestSource source{sent.request.get(), &event, sent.delivery_id};
    write_request(writer, request_of(*sent.attempt, source), nullptr);
    writer.close_object();
  } else {
    writer.value(nullptr);
  }
  writer.close_object();
  return json_answer(sent.attempt ? 200 : 202, std::move(body));
}

}  // namespace

Awaitable<Reply> test_webhook(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  POSTRIDER_CO_TRY(const Event event, read_test(context, request, *webhook));
  POSTRIDER_CO_CHECK(check_not_suspended(context.services.snapshots, webhook->tenant_id));
  auto pending_lane = context.services.lanes.lane_view(webhook->id);
  const Result<LaneView> lane = co_await std::move(pending_lane);
  if (!lane) {
    co_return tl::make_unexpected(to_problem(lane.error()));
  }
  POSTRIDER_CO_CHECK(check_lane(*lane));
  POSTRIDER_CO_TRY(const SharePlace place, take_test_place(context));
  AuditEntry entry = audit_entry(context, {.action = "webhook.test",
                                           .subject = webhook->id.to_string(),
                                           .tenant_id = webhook->tenant_id});
  auto pending =
      context.services.test_sends.send_test(webhook, event, std::move(entry), context.request_key);
  const Result<TestSent> sent = co_await std::move(pending);
  if (!sent) {
    co_return tl::make_unexpected(to_problem(sent.error()));
  }
  co_return answer_test(event, *sent);
}

Awaitable<Reply> show_test(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const EventId id, path_id<EventId>(request, "id", "event"));
  const auto query = [id](Reader& reader) { return read_earlier(*reader.history, id); };
  auto pending = context.queries().read(query);
  const Result<EarlierTest> earlier = co_await std::move(pending);
  if (!earlier) {
    co_return tl::make_unexpected(to_problem(earlier.error(), "event", id.to_string()));
  }
  co_return answer_test(earlier->event, earlier->sent);
}

Awaitable<Reply> verify_webhook(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  POSTRIDER_CO_CHECK(check_not_suspended(context.services.snapshots, webhook->tenant_id));
  auto verifying = verify(context, *webhook);
  const Parsed<std::optional<std::string>> fault = co_await std::move(verifying);
  if (!fault) {
    co_return tl::make_unexpected(fault.error());
  }
  if (*fault) {
    co_return tl::make_unexpected(verification_failed(**fault));
  }
  WebhookEdit edit = [url = webhook->url, now = context.services.clock.now().wall](
                         const Webhook& current) -> Result<Webhook> {
    if (current.url != url) {
      return fail(Errc::conflict, "The URL was changed while it was verified. Verify it again.");
    }
    Webhook verified = current;
    switch_on(verified);
    verified.updated_at = std::max(now, current.updated_at);
    return verified;
  };
  AuditEntry entry = audit_entry(context, {.action = "webhook.verify",
                                           .subject = webhook->id.to_string(),
                                           .tenant_id = webhook->tenant_id});
  auto pending = context.services.webhooks.edit_webhook(webhook->id, std::move(edit),
                                                        std::move(entry), std::nullopt);
  const Result<WebhookRef> verified = co_await std::move(pending);
  if (!verified) {
    co_return tl::make_unexpected(to_problem(verified.error()));
  }
  auto shown = show_changed_webhook(context, *verified, *webhook);
  co_return co_await std::move(shown);
}

}  // namespace postrider::api
