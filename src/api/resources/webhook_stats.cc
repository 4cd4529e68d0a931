// GET /v1/stats/webhooks: the attempts of some webhooks per hour, for small charts in a list.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ports/stats.h"

#include "api/json/json_writer.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::size_t ids_max = 100;  // As many as one page shows.
constexpr Millis bucket = std::chrono::hours{1};

struct NamedPeriod {
  std::string_view name;
  Millis length;
};
// Longer periods would read too many spans.
constexpr std::array periods = {NamedPeriod{"1h", std::chrono::hours{1}},
                                NamedPeriod{"24h", std::chrono::hours{24}}};

struct ChartQuery {
  std::vector<WebhookId> ids;
  WallTime from;
  WallTime to;  // Exclusive. Both are whole hours.
};

Parsed<ChartQuery> read_query(const HttpRequest& request, WallTime now) {
  QueryReader query{request};
  ChartQuery asked;
  asked.ids = query.list_of("ids", WebhookId::parse, "ids of webhooks (whk_…)");
  if (asked.ids.empty() || asked.ids.size() > ids_max) {
    query.refuse("ids",
                 fmt::format("must be 1 to {} ids of webhooks, separated by commas.", ids_max));
  }
  const auto parse = [](std::string_view text) -> std::optional<Millis> {
    const auto found = std::ranges::find(periods, text, &NamedPeriod::name);
    return found == periods.end() ? std::nullopt : std::optional{found->length};
  };
  const Millis period = query.one_of("period", parse, "1h or 24h").value_or(periods.back().length);
  POSTRIDER_CHECK(query.finish());
  asked.to = std::chrono::floor<std::chrono::hours>(now) + bucket;
  asked.from = asked.to - period;
  return asked;
}

using Charts = std::vector<std::vector<SpanTally>>;  // In the order of the ids.

Result<Charts> read_charts(Stats& stats, const ChartQuery& asked) {
  Charts charts;
  for (const WebhookId id : asked.ids) {
    const StatsFilter filter{.from = asked.from, .to = asked.to, .webhook_id = id, .tenant_id = {}};
    POSTRIDER_TRY(std::vector<SpanTally> chart, stats.over_time(filter, bucket));
    charts.push_back(std::move(chart));
  }
  return charts;
}

/// Writes every hour, including those without attempts.
void write_chart(JsonWriter& writer, const ChartQuery& asked, WebhookId id,
                 const std::vector<SpanTally>& chart) {
  DeliveryTally total;
  writer.open_object();
  writer.member("webhook_id", id);
  writer.key("buckets");
  writer.open_array();
  auto next = chart.begin();
  for (WallTime at = asked.from; at < asked.to; at += bucket) {
    const bool counted = next != chart.end() && next->start == at;
    const DeliveryTally tally = counted ? next->tally : DeliveryTally{};
    writer.open_object();
    writer.member("at", at);
    writer.member("succeeded", tally.succeeded);
    writer.member("failed", tally.failed());
    writer.close_object();
    total.add(tally);
    next += counted ? 1 : 0;
  }
  writer.close_array();
  writer.member("success_rate", total.attempt_success_rate());
  writer.close_object();
}

std::string write_charts(const ChartQuery& asked, const Charts& charts) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.key("data");
  writer.open_array();
  for (std::size_t i = 0; i < charts.size(); ++i) {
    write_chart(writer, asked, asked.ids[i], charts[i]);
  }
  writer.close_array();
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> get_webhook_stats(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const ChartQuery asked, read_query(request, context.services.clock.now().wall));
  const auto query = [&asked](Reader& reader) { return read_charts(*reader.stats, asked); };
  auto pending = context.queries().read(query);
  const Result<Charts> charts = co_await std::move(pending);
  if (!charts) {
    co_return tl::make_unexpected(to_problem(charts.error()));
  }
  co_return json_answer(200, write_charts(asked, *charts));
}

}  // namespace postrider::api
