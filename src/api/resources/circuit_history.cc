// GET /v1/webhooks/{id}/circuit-breaker/history: when the circuit of a webhook was open.
#include <algorithm>

#include "api/json/list_answer.h"
#include "api/json/query_reader.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

Parsed<Page> read_query(const HttpRequest& request) {
  QueryReader query{request};
  return read_history_page(query, ListKind::open_periods);
}

void write_period(JsonWriter& writer, const OpenPeriod& period, WallTime now) {
  const WallTime end = period.ended_at.value_or(std::max(now, period.opened_at));
  writer.open_object();
  writer.member("opened_at", period.opened_at);
  writer.member("ended_at", period.ended_at);
  writer.member("reason", to_string(period.reason));
  writer.member("duration_ms", (end - period.opened_at).count());
  writer.close_object();
}

}  // namespace

Awaitable<Reply> list_open_periods(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  const auto read = [id = webhook->id](Reader& reader, const Page& page) {
    return reader.history->list_open_periods(id, page);
  };
  const auto write = [now = context.services.clock.now().steady](const Listed<OpenPeriod>& listed) {
    return write_list(
        listed, ListKind::open_periods,
        [now](JsonWriter& writer, const auto& period) { write_period(writer, period, now); });
  };
  auto answering = answer_list(context, read_query(request), read, write);
  co_return co_await std::move(answering);
}

}  // namespace postrider::api
