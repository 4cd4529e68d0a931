#include "core/filter/event_type_filter.h"

#include "api/http/request_observer.h"
#include "api/json/event_json.h"
#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/resources/answers.h"
#include "api/resources/event_type_gate.h"
#include "api/resources/publish_answer.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::uint32_t deliveries_shown_max = 250;

/// The publish hot path: the body is scanned once.
Parsed<EventDraft> read_publish(const Context& context, const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_CHECK(check_media_type(request));
  POSTRIDER_TRY(std::optional<std::string> key, read_key_header(request));
  Result<std::vector<JsonMember>> members = read_json_envelope(request.body);
  if (!members) {
    return tl::make_unexpected(json_problem(request.body, members.error()));
  }
  const EventArrival arrival{.text = request.body,
                             .path = {},
                             .key = std::move(key),
                             .id = EventId{context.services.ids.new_uuid()},
                             .now = context.services.clock.now().wall,
                             .tenant_id = context.caller.tenant_id,
                             .trace = read_trace_headers(request)};
  POSTRIDER_TRY(EventDraft draft, read_event(*std::move(members), arrival, *context.options));
  POSTRIDER_CHECK(EventTypeGate(context).check(draft.event, arrival.path));
  return draft;
}

/// For the log line of the request.
void note_event(RequestNote* note, EventId id, const TraceId& trace_id,
                const PublishReceipt& receipt) {
  if (note == nullptr) {
    return;
  }
  if (const auto* duplicate = std::get_if<Duplicate>(&receipt)) {
    note->event_id = duplicate->first_id;
  } else if (std::holds_alternative<Accepted>(receipt)) {
    note->event_id = id;
    note->trace_id = trace_id;
  }
}

struct EventQuery {
  EventFilter filter;
  Page page;
};

Parsed<EventQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  EventQuery asked;
  asked.filter = {.tenant_id = query.text("tenant_id"),
                  .types = query.list_of("event_type", parse_event_type_word, event_type_words),
                  .from = query.time("from"),
                  .to = query.end_time("to"),
                  .matched = query.boolean("matched"),
                  .resource_id = query.text("resource_id")};
  POSTRIDER_TRY(const Page page, read_history_page(query, ListKind::events));
  asked.page = page;
  return asked;
}

/// Without the data: a page of large events would be too large.
void write_listed(JsonWriter& writer, const Event& event) {
  open_event(writer, event);
  writer.member("data_bytes", event.data.size());
  writer.close_object();
}

Result<Listed<Event>> read_events(Reader& reader, const EventQuery& asked) {
  return reader.history->list_events(asked.filter, asked.page);
}

std::string write_page(const Listed<Event>& listed) {
  return write_list(listed, ListKind::events, write_listed);
}

struct EventDetail {
  Event event;
  std::uint64_t fanout_remaining = 0;
  Listed<DeliveryRecord> deliveries;
};

Result<EventDetail> read_detail(History& history, EventId id) {
  POSTRIDER_TRY(Event event, history.find_event(id));
  // Before the deliveries, so that no delivery is neither listed nor remaining.
  POSTRIDER_TRY(const std::uint64_t remaining, history.fanout_remaining(id));
  DeliveryFilter filter;
  filter.event_id = id;
  const Page page{.limit = deliveries_shown_max, .offset = 0, .before = std::nullopt};
  POSTRIDER_TRY(Listed<DeliveryRecord> deliveries, history.list_deliveries(filter, page));
  return EventDetail{std::move(event), remaining, std::move(deliveries)};
}

std::string write_detail(const EventDetail& detail, const LaneViews& lanes,
                         const Directory& webhooks) {
  std::string body;
  JsonWriter writer{body};
  open_event(writer, detail.event);
  writer.member_raw("data", detail.event.data);
  writer.key("deliveries");
  writer.open_array();
  for (const DeliveryRecord& record : detail.deliveries.items) {
    write_delivery(writer, record, lanes, webhooks);
  }
  writer.close_array();
  // The rest is listed by GET /v1/deliveries?event_id=…&cursor=….
  writer.member("deliveries_next_cursor",
                next_cursor(ListKind::deliveries, detail.deliveries.next));
  writer.member("fanout_remaining", detail.fanout_remaining);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> publish_event(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(EventDraft draft, read_publish(context, request));
  const SubmittedEvent submitted = submitted_event(draft.event, *context.options);
  const TraceId trace_id = trace_id_of(draft.event);
  std::vector<EventDraft> drafts;
  drafts.push_back(std::move(draft));
  POSTRIDER_CO_CHECK(check_drafts(context, drafts));
  auto pending = publish_drafts(std::move(context), std::move(drafts), /*all_or_nothing=*/true);
  const Parsed<std::vector<PublishReceipt>> receipts = co_await std::move(pending);
  if (!receipts) {
    co_return tl::make_unexpected(receipts.error());
  }
  note_event(request.note, submitted.id, trace_id, receipts->front());
  co_return answer_publish(submitted, receipts->front());
}

Awaitable<Reply> list_events(Context context, HttpRequest request) {
  return answer_list(std::move(context), read_query(request), read_events, write_page);
}

Awaitable<Reply> get_event(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const EventId id, path_id<EventId>(request, "id", "event"));
  const auto query = [id](Reader& reader) { return read_detail(*reader.history, id); };
  auto pending = context.queries().read(query);
  const Result<EventDetail> detail = co_await std::move(pending);
  if (!detail) {
    co_return tl::make_unexpected(to_problem(detail.error(), "event", id.to_string()));
  }
  auto pending_lanes =
      context.services.lanes.lane_views(webhooks_of_waiting(detail->deliveries.items));
  const LaneViews lanes = co_await std::move(pending_lanes);
  const auto directory = context.services.snapshots.directory();
  co_return json_answer(200, write_detail(*detail, lanes, *directory));
}

}  // namespace postrider::api
