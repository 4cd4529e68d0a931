// GET /v1/stats: counts by outcome, success rates and response times over time.
#include "ports/stats.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <span>

#include <fmt/format.h>

#include "core/base/enum_names.h"
#include "core/base/parse_number.h"

#include "api/json/list_answer.h"
#include "api/json/query_reader.h"
#include "api/json/tally_json.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::int64_t buckets_max = 1'000;  // More than a chart can show.

struct NamedLength {
  std::string_view name;
  Millis length;
};
constexpr std::array bucket_sizes = {NamedLength{"5m", std::chrono::minutes{5}},
                                     NamedLength{"1h", std::chrono::hours{1}},
                                     NamedLength{"1d", std::chrono::hours{24}}};
constexpr std::array periods = {
    NamedLength{"1h", std::chrono::hours{1}}, NamedLength{"24h", std::chrono::hours{24}},
    NamedLength{"7d", std::chrono::hours{7 * 24}}, NamedLength{"30d", std::chrono::hours{30 * 24}}};
constexpr NamedLength period_default = periods[1];

std::optional<NamedLength> find_length(std::span<const NamedLength> lengths,
                                       std::string_view name) {
  const auto found = std::ranges::find(lengths, name, &NamedLength::name);
  return found == lengths.end() ? std::nullopt : std::optional{*found};
}

enum class Sort : std::uint8_t { volume, worst };
constexpr EnumNames<Sort, Sort::worst> sorts{{"volume", "worst"}};

struct StatsQuery {
  StatsFilter filter;  // `from` and `to` are bucket boundaries.
  NamedLength bucket = bucket_sizes[1];
  Sort sort = Sort::volume;
  std::uint32_t limit = page_limit_default;
  std::uint32_t offset = 0;
};

WallTime round_down(WallTime time, Millis length) {
  const Millis past = time.time_since_epoch() % length;
  return time - (past.count() < 0 ? past + length : past);
}

/// The list is ordered by counts, so its cursor is an offset.
Parsed<std::uint32_t> offset_of(const PageQuery& page) {
  if (!page.position) {
    return page.offset;
  }
  if (const auto offset = parse_number<std::uint32_t>(*page.position)) {
    return *offset;
  }
  return tl::make_unexpected(invalid_cursor());
}

void read_range(QueryReader& query, WallTime now, StatsQuery& asked) {
  const Millis length = asked.bucket.length;
  const WallTime to =
      query.end_time("to").value_or(now + Millis{1});  // Includes the current moment.
  const auto parse = [](std::string_view text) { return find_length(periods, text); };
  const std::optional<NamedLength> period = query.one_of("period", parse, "1h, 24h, 7d or 30d");
  const std::optional<WallTime> given = query.time("from");
  if (period && given) {
    query.refuse("period", "cannot be combined with `from`.");
  }
  const WallTime from = given.value_or(to - period.value_or(period_default).length);
  if (from >= to) {
    query.refuse("from", "must be before `to`.");
  }
  asked.filter.from = round_down(from, length);
  asked.filter.to = round_down(to + length - Millis{1}, length);
  if ((asked.filter.to - asked.filter.from) / length > buckets_max) {
    query.refuse("bucket", fmt::format("gives more than {} buckets between `from` and `to`. Use "
                                       "a larger bucket (5m, 1h, 1d) or a shorter range.",
                                       buckets_max));
  }
}

Parsed<StatsQuery> read_query(const HttpRequest& request, const Context& context) {
  QueryReader query{request};
  StatsQuery asked;
  const auto parse_bucket = [](std::string_view text) { return find_length(bucket_sizes, text); };
  asked.bucket = query.one_of("bucket", parse_bucket, "5m, 1h or 1d").value_or(asked.bucket);
  const auto parse_sort = [](std::string_view text) { return sorts.find(text); };
  asked.sort = query.one_of("sort", parse_sort, "volume or worst").value_or(asked.sort);
  read_range(query, context.services.clock.now().wall, asked);
  asked.filter.webhook_id = query.one_of("webhook_id", WebhookId::parse, "a webhook's id (whk_…)");
  asked.filter.tenant_id = query.text("tenant_id");
  POSTRIDER_TRY(const PageQuery page, read_page(query, ListKind::stats));
  POSTRIDER_TRY(const std::uint32_t offset, offset_of(page));
  asked.limit = page.limit;
  asked.offset = offset;
  return asked;
}

struct Numbers {
  std::vector<SpanTally> buckets;
  std::vector<WebhookTally> webhooks;
};

Result<Numbers> read_numbers(Stats& stats, const StatsQuery& asked) {
  POSTRIDER_TRY(std::vector<SpanTally> buckets, stats.over_time(asked.filter, asked.bucket.length));
  POSTRIDER_TRY(std::vector<WebhookTally> webhooks, stats.by_webhook(asked.filter));
  if (asked.sort == Sort::worst) {
    sort_worst_first(webhooks);
  }
  return Numbers{std::move(buckets), std::move(webhooks)};
}

/// Writes every bucket of the range, including empty ones.
void write_buckets(JsonWriter& writer, const StatsQuery& asked, const Numbers& numbers) {
  writer.key("buckets");
  writer.open_array();
  auto next = numbers.buckets.begin();
  for (WallTime start = asked.filter.from; start < asked.filter.to; start += asked.bucket.length) {
    const bool counted = next != numbers.buckets.end() && next->start == start;
    writer.open_object();
    writer.member("start", start);
    write_tally(writer, counted ? next->tally : DeliveryTally{});
    writer.close_object();
    next += counted ? 1 : 0;
  }
  writer.close_array();
}

void write_webhooks(JsonWriter& writer, const StatsQuery& asked, const Numbers& numbers,
                    const Directory& directory) {
  const std::size_t first = std::min<std::size_t>(asked.offset, numbers.webhooks.size());
  const std::size_t end = std::min<std::size_t>(first + asked.limit, numbers.webhooks.size());
  const std::span shown = std::span{numbers.webhooks}.subspan(first, end - first);
  const bool more = end < numbers.webhooks.size();
  const auto next = more ? std::optional{std::to_string(end)} : std::nullopt;
  const auto write_item = [&directory](JsonWriter& list, const WebhookTally& counted) {
    const WebhookRef webhook = directory.find(counted.webhook_id);  // Null if it was deleted.
    list.open_object();
    list.member("webhook_id", counted.webhook_id);
    list.member("name", webhook ? webhook->name : std::nullopt);
    list.member("url", webhook ? std::optional{webhook->url} : std::nullopt);
    write_tally(list, counted.tally);
    list.close_object();
  };
  writer.key("webhooks");
  open_list(writer, shown, next_cursor(ListKind::stats, next), write_item);
  writer.close_object();
}

void write_load(JsonWriter& writer, const std::optional<CurrentLoad>& load) {
  writer.key("now");
  if (!load) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("waiting", load->waiting);
  writer.member("in_flight", load->in_flight);
  writer.member("dead_letters", load->dead_letters);
  writer.member("open_circuits", load->open_circuits);
  writer.close_object();
}

std::string write_stats(const StatsQuery& asked, const Numbers& numbers, const Directory& directory,
                        const std::optional<CurrentLoad>& load) {
  DeliveryTally total;
  for (const SpanTally& bucket : numbers.buckets) {
    total.add(bucket.tally);
  }
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("from", asked.filter.from);
  writer.member("to", asked.filter.to);
  writer.member("bucket", asked.bucket.name);
  writer.key("total");
  writer.open_object();
  write_tally(writer, total);
  writer.close_object();
  write_load(writer, load);
  write_buckets(writer, asked, numbers);
  write_webhooks(writer, asked, numbers, directory);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> get_stats(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const StatsQuery asked, read_query(request, context));
  const auto query = [asked](Reader& reader) { return read_numbers(*reader.stats, asked); };
  auto pending = context.queries().read(query);
  const Result<Numbers> numbers = co_await std::move(pending);
  if (!numbers) {
    co_return tl::make_unexpected(to_problem(numbers.error()));
  }
  const std::shared_ptr<const Directory> directory = context.services.snapshots.directory();
  std::optional<CurrentLoad> load;
  if (!asked.filter.webhook_id) {
    load = context.services.status.current_load(asked.filter.tenant_id);
  }
  co_return json_answer(200, write_stats(asked, *numbers, *directory, load));
}

}  // namespace postrider::api
