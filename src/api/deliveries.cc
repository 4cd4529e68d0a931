#include "core/request.h"
#include "core/target_url.h"

#include "api/delivery_query.h"
#include "api/event_json.h"
#include "api/list_answer.h"
#include "api/resources.h"

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
  std::optional<Event> event;  // None when it is past its retention.
};

Result<DeliveryDetail> read_detail(History& history, DeliveryId id) {
  POSTRIDER_TRY(DeliveryRecord record, history.find_delivery(id));
  POSTRIDER_TRY(std::vector<Attempt> attempts, history.attempts_of(id));
  Result<Event> event = history.find_event(record.delivery.event_id);
  if (!event && event.error().code != Errc::not_found) {
    return tl::make_unexpected(event.error());
  }
  return DeliveryDetail{std::move(record), std::move(attempts),
                        event ? std::optional{*std::move(event)} : std::nullopt};
}

/// The request of the latest attempt, or of the first one to come, made again from the webhook as
/// it is now. nullopt when the webhook or the event is gone.
std::optional<std::string> rebuild_request(const Context& context, const DeliveryDetail& detail,
                                           const WebhookRef& webhook) {
  if (webhook == nullptr || !detail.event) {
    return std::nullopt;
  }
  const Result<TargetUrl> url = parse_target_url(webhook->url, context.options->url_policy);
  if (!url) {
    return std::nullopt;
  }
  const bool attempted = !detail.attempts.empty();
  const AttemptStamp stamp{
      .delivery_id = detail.record.delivery.id,
      .attempt_number = attempted ? detail.attempts.back().number : 1,
      .now = attempted ? detail.attempts.back().outcome.executed_at : context.service->now().wall};
  // Whatever signature is in there is hidden afterwards; the secret stays out of this.
  const Sign no_sign = [](std::string_view, std::string_view) { return std::string(32, '\0'); };
  const RequestTemplate request{*webhook, *url, context.options->user_agent};
  return request.fill(*detail.event, stamp, no_sign);
}

std::string write_detail(const Context& context, const DeliveryDetail& detail,
                         const LaneViews& lanes) {
  const WebhookRef webhook = context.service->directory()->find(detail.record.delivery.webhook_id);
  const std::optional<std::string> request = rebuild_request(context, detail, webhook);
  std::string body;
  JsonWriter writer{body};
  open_delivery(writer, detail.record, lanes);
  writer.key("request");
  if (request) {
    write_request(writer, *webhook, *request);
  } else {
    writer.value(nullptr);
  }
  writer.key("attempts");
  writer.open_array();
  for (const Attempt& attempt : detail.attempts) {
    write_attempt(writer, attempt);
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
  co_return json_answer(200, write_detail(context, *detail, lanes));
}

}  // namespace postrider::api
