#include <algorithm>

#include "core/policy/blocked_times.h"
#include "core/request/sent_request.h"

#include "api/json/delivery_query.h"
#include "api/json/event_json.h"
#include "api/json/list_answer.h"
#include "api/json/request_json.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

/// A circuit that is not closed may still let a delivery through: only the lane knows.
void keep_blocked(std::vector<DeliveryRecord>& records, const DeliveryFilter& filter,
                  const LaneViews& lanes) {
  std::erase_if(records, [&](const DeliveryRecord& record) {
    const Delivery& delivery = record.delivery;
    return std::ranges::find(filter.states, delivery.state) == filter.states.end() &&
           !is_blocked_by_circuit(delivery, lanes);
  });
}

/// The delivery with this id, if it matches the other filters.
Result<Listed<DeliveryRecord>> find_listed(History& history, const DeliveryQuery& asked) {
  Result<DeliveryRecord> record = history.find_delivery(*asked.delivery_id);
  if (!record && record.error().code != Errc::not_found) {
    return tl::make_unexpected(record.error());
  }
  DeliveryFilter filter = asked.filter;
  if (!record || (filter.event_id && *filter.event_id != record->delivery.event_id)) {
    return Listed<DeliveryRecord>{};
  }
  if (filter == DeliveryFilter{}) {
    return Listed<DeliveryRecord>{.items = {*std::move(record)}, .next = std::nullopt};
  }
  const WebhookId webhook_id = record->delivery.webhook_id;
  const std::vector<WebhookId>& wanted = filter.webhook_ids;
  if (!wanted.empty() && std::ranges::find(wanted, webhook_id) == wanted.end()) {
    return Listed<DeliveryRecord>{};
  }
  // An event has at most one delivery per webhook.
  filter.event_id = record->delivery.event_id;
  filter.webhook_ids = {webhook_id};
  return history.list_deliveries(filter, {});
}

Awaitable<Reply> answer_list(Context context, DeliveryQuery asked) {
  const auto query = [&asked](Reader& reader) {
    return asked.delivery_id ? find_listed(*reader.history, asked)
                             : reader.history->list_deliveries(asked.filter, asked.page);
  };
  auto pending = context.queries().read(query);
  Result<Listed<DeliveryRecord>> listed = co_await std::move(pending);
  if (!listed) {
    co_return tl::make_unexpected(to_problem(listed.error()));
  }
  auto pending_lanes = context.services.lanes.lane_views(webhooks_of_waiting(listed->items));
  const LaneViews lanes = co_await std::move(pending_lanes);
  if (asked.filter.circuit_blocked) {
    keep_blocked(listed->items, asked.filter, lanes);
  }
  const auto directory = context.services.snapshots.directory();
  const auto write_item = [&](JsonWriter& writer, const DeliveryRecord& record) {
    write_delivery(writer, record, lanes, *directory);
  };
  co_return json_answer(200, write_list(*listed, ListKind::deliveries, write_item));
}

/// Fails with 404 if there is no such webhook and none whose history is still stored.
Awaitable<Parsed<void>> check_webhook(Context context, WebhookId id) {
  if (context.services.snapshots.directory()->find(id) != nullptr) {
    co_return Parsed<void>{};
  }
  const auto query = [id](Reader& reader) { return reader.history->tenant_of_removed(id); };
  auto pending = context.queries().read(query);
  const Result<std::optional<TenantId>> removed = co_await std::move(pending);
  if (!removed) {
    co_return tl::make_unexpected(to_problem(removed.error()));
  }
  if (!*removed) {
    co_return tl::make_unexpected(not_found("webhook", id.to_string()));
  }
  co_return Parsed<void>{};
}

struct DeliveryDetail {
  DeliveryRecord record;
  std::vector<Attempt> attempts;
  std::map<std::uint32_t, RequestShape> requests;  // By the attempt's number.
  std::optional<Event> event;                      // nullopt: removed by retention.
  std::vector<OpenPeriod> open_periods;            // Of the webhook's circuit.
};

Result<DeliveryDetail> read_detail(History& history, DeliveryId id) {
  POSTRIDER_TRY(DeliveryRecord record, history.find_delivery(id));
  POSTRIDER_TRY(std::vector<Attempt> attempts, history.attempts_of(id));
  POSTRIDER_TRY(auto requests, history.requests_of(id));
  POSTRIDER_TRY(std::vector<OpenPeriod> open_periods, history.open_periods_of(id));
  Result<Event> event = history.find_event(record.delivery.event_id);
  if (!event && event.error().code != Errc::not_found) {
    return tl::make_unexpected(event.error());
  }
  return DeliveryDetail{std::move(record), std::move(attempts), std::move(requests),
                        event ? std::optional{*std::move(event)} : std::nullopt,
                        std::move(open_periods)};
}

std::optional<SentRequest> sent_with(const DeliveryDetail& detail, const Attempt& attempt) {
  const auto shape = detail.requests.find(attempt.number);
  return request_of(attempt, {.shape = shape == detail.requests.end() ? nullptr : &shape->second,
                              .event = detail.event ? &*detail.event : nullptr,
                              .delivery_id = detail.record.delivery.id});
}

std::string write_detail(const DeliveryDetail& detail, const LaneViews& lanes,
                         const Directory& webhooks, WallTime now) {
  const std::optional<SentRequest> latest =
      detail.attempts.empty() ? std::nullopt : sent_with(detail, detail.attempts.back());
  std::string body;
  JsonWriter writer{body};
  open_delivery(writer, detail.record, lanes);
  write_receiver(writer, detail.record.delivery, webhooks);
  writer.key("blocked_by");
  write_blocked_times(writer,
                      blocked_times(detail.record, detail.attempts, detail.open_periods, now), now);
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

Awaitable<Reply> list_deliveries(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(DeliveryQuery asked, read_delivery_query(request));
  auto pending = answer_list(context, std::move(asked));
  co_return co_await std::move(pending);
}

Awaitable<Reply> list_webhook_deliveries(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookId id, path_id<WebhookId>(request, "id", "webhook"));
  auto looking = check_webhook(context, id);
  const Parsed<void> known = co_await std::move(looking);
  POSTRIDER_CO_CHECK(known);
  POSTRIDER_CO_TRY(DeliveryQuery asked, read_delivery_query(request, id));
  auto pending = answer_list(context, std::move(asked));
  co_return co_await std::move(pending);
}

Awaitable<Reply> get_delivery(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const DeliveryId id, path_id<DeliveryId>(request, "id", "delivery"));
  const auto query = [id](Reader& reader) { return read_detail(*reader.history, id); };
  auto pending = context.queries().read(query);
  const Result<DeliveryDetail> detail = co_await std::move(pending);
  if (!detail) {
    co_return tl::make_unexpected(to_problem(detail.error(), "delivery", id.to_string()));
  }
  auto pending_lanes = context.services.lanes.lane_views(webhooks_of_waiting({detail->record}));
  const LaneViews lanes = co_await std::move(pending_lanes);
  const auto directory = context.services.snapshots.directory();
  const WallTime now = context.services.clock.now().steady;
  co_return json_answer(200, write_detail(*detail, lanes, *directory, now));
}

}  // namespace postrider::api
