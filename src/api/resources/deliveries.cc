#include "core/request/sent_request.h"

#include "api/json/delivery_query.h"
#include "api/json/event_json.h"
#include "api/json/list_answer.h"
#include "api/json/request_json.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

Awaitable<HttpResponse> answer_list(Context context, DeliveryQuery asked) {
  const auto query = [asked = std::move(asked)](Reader& reader) {
    return reader.history->list_deliveries(asked.filter, asked.page);
  };
  auto pending = context.service->read(query);
  const Result<Listed<DeliveryRecord>> listed = co_await std::move(pending);
  if (!listed) {
    co_return render(to_problem(listed.error()));
  }
  auto pending_lanes = view_lanes(context, webhooks_waited_for(listed->items));
  const LaneViews lanes = co_await std::move(pending_lanes);
  const auto write_item = [&lanes](JsonWriter& writer, const DeliveryRecord& record) {
    write_delivery(writer, record, lanes);
  };
  co_return json_answer(200, write_list(*listed, ListKind::deliveries, write_item));
}

struct DeliveryDetail {
  DeliveryRecord record;
  std::vector<Attempt> attempts;
  std::map<std::uint32_t, RequestShape> requests;  // By the attempt's number.
  std::optional<Event> event;                      // None when it is past its retention.
};

Result<DeliveryDetail> read_detail(History& history, DeliveryId id) {
  POSTRIDER_TRY(DeliveryRecord record, history.find_delivery(id));
  POSTRIDER_TRY(std::vector<Attempt> attempts, history.attempts_of(id));
  POSTRIDER_TRY(auto requests, history.requests_of(id));
  Result<Event> event = history.find_event(record.delivery.event_id);
  if (!event && event.error().code != Errc::not_found) {
    return tl::make_unexpected(event.error());
  }
  return DeliveryDetail{std::move(record), std::move(attempts), std::move(requests),
                        event ? std::optional{*std::move(event)} : std::nullopt};
}

std::optional<SentRequest> sent_with(const DeliveryDetail& detail, const Attempt& attempt) {
  const auto shape = detail.requests.find(attempt.number);
  return request_of(attempt, {.shape = shape == detail.requests.end() ? nullptr : &shape->second,
                              .event = detail.event ? &*detail.event : nullptr,
                              .delivery_id = detail.record.delivery.id});
}

std::string write_detail(const DeliveryDetail& detail, const LaneViews& lanes) {
  const std::optional<SentRequest> latest =
      detail.attempts.empty() ? std::nullopt : sent_with(detail, detail.attempts.back());
  std::string body;
  JsonWriter writer{body};
  open_delivery(writer, detail.record, lanes);
  writer.key("request");
  write_request(writer, latest, nullptr);
  writer.key("attempts");
  writer.open_array();
  for (const Attempt& attempt : detail.attempts) {
    open_attempt(writer, attempt);
    writer.key("request");
    write_request(writer, sent_with(detail, attempt), latest ? &latest->body : nullptr);
    writer.close_object();
  }
  writer.close_array();
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<HttpResponse> list_deliveries(Context context, HttpRequest request) {
  Parsed<DeliveryQuery> asked = read_delivery_query(request);
  if (!asked) {
    co_return render(asked.error());
  }
  auto pending = answer_list(context, *std::move(asked));
  co_return co_await std::move(pending);
}

Awaitable<HttpResponse> list_webhook_deliveries(Context context, HttpRequest request) {
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  Parsed<DeliveryQuery> asked = read_delivery_query(request, (*webhook)->id);
  if (!asked) {
    co_return render(asked.error());
  }
  auto pending = answer_list(context, *std::move(asked));
  co_return co_await std::move(pending);
}

Awaitable<HttpResponse> get_delivery(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<DeliveryId> id = path_id<DeliveryId>(request, "id", "delivery");
  if (!id) {
    co_return render(id.error());
  }
  const auto query = [id = *id](Reader& reader) { return read_detail(*reader.history, id); };
  auto pending = context.service->read(query);
  const Result<DeliveryDetail> detail = co_await std::move(pending);
  if (!detail && detail.error().code == Errc::not_found) {
    co_return render(not_found("delivery", id->to_string()));
  }
  if (!detail) {
    co_return render(to_problem(detail.error()));
  }
  auto pending_lanes = view_lanes(context, webhooks_waited_for({detail->record}));
  const LaneViews lanes = co_await std::move(pending_lanes);
  co_return json_answer(200, write_detail(*detail, lanes));
}

}  // namespace postrider::api
