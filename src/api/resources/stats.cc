// GET /v1/stats: counts by outcome, success rates and response times over time.
#include "ports/stats.h"

#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <span>

#include <fmt/format.h>

#include "api/json/list_answer.h"
#include "api/json/query_reader.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::int64_t buckets_max = 1'000;  // More than a chart can show.
constexpr std::chrono::hours range_default{24};

struct BucketSize {
  std::string_view name;
  Millis length;
};
constexpr std::array bucket_sizes = {BucketSize{"5m", std::chrono::minutes{5}},
                                     BucketSize{"1h", std::chrono::hours{1}},
                                     BucketSize{"1d", std::chrono::hours{24}}};

std::optional<BucketSize> parse_bucket(std::string_view text) {
  for (const BucketSize& size : bucket_sizes) {
    if (size.name == text) {
      return size;
    }
  }
  return std::nullopt;
}

struct StatsQuery {
  StatsFilter filter;  // `from` and `to` are bucket boundaries.
  BucketSize bucket = bucket_sizes[1];
  std::uint32_t limit = page_limit_default;
  std::uint32_t offset = 0;
};

WallTime round_down(WallTime time, Millis length) {
  const Millis past = time.time_since_epoch() % length;
  return time - (past.count() < 0 ? past + length : past);
}

/// The list is ordered by volume, so its cursor is an offset.
Parsed<std::uint32_t> offset_of(const PageQuery& page) {
  if (!page.position) {
    return page.offset;
  }
  std::uint32_t offset = 0;
  const char* const end = page.position->data() + page.position->size();
  const auto [rest, error] = std::from_chars(page.position->data(), end, offset);
  if (error != std::errc{} || rest != end) {
    return tl::make_unexpected(invalid_cursor());
  }
  return offset;
}

void read_range(QueryReader& query, WallTime now, StatsQuery& asked) {
  const Millis length = asked.bucket.length;
  const WallTime to = query.time("to").value_or(now + Millis{1});  // Includes the current moment.
  const WallTime from = query.time("from").value_or(to - range_default);
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
  asked.bucket = query.one_of("bucket", parse_bucket, "5m, 1h or 1d").value_or(asked.bucket);
  read_range(query, context.services.clock.now().wall, asked);
  asked.filter.webhook_id = query.one_of("webhook_id", WebhookId::parse, "a webhook's id (whk_…)");
  asked.filter.tenant_id = query.text("tenant_id");
  POSTRIDER_TRY(const PageQuery page, read_page(query, ListKind::stats));
  POSTRIDER_TRY(const std::uint32_t offset, offset_of(page));
  asked.limit = page.limit;
  asked.offset = offset;
  return asked;
}

double to_shown_ms(Micros duration) { return static_cast<double>(duration.count()) / 1000.0; }

std::optional<double> success_rate(const DeliveryTally& tally) {
  if (tally.attempts == 0) {
    return std::nullopt;
  }
  return static_cast<double>(tally.succeeded) / static_cast<double>(tally.attempts);
}

void write_durations(JsonWriter& writer, const DeliveryTally& tally) {
  writer.key("duration_ms");
  if (tally.attempts == 0) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("average", to_shown_ms(tally.duration_total / tally.attempts));
  writer.member("p50", to_shown_ms(tally.durations.percentile(50)));
  writer.member("p95", to_shown_ms(tally.durations.percentile(95)));
  writer.member("p99", to_shown_ms(tally.durations.percentile(99)));
  writer.close_object();
}

/// Writes members into an object that the caller opened.
void write_tally(JsonWriter& writer, const DeliveryTally& tally) {
  writer.member("published", tally.published);
  writer.member("deliveries", tally.deliveries);
  writer.member("attempts", tally.attempts);
  writer.member("succeeded", tally.succeeded);
  writer.member("failed", tally.failed());
  writer.member("retries", tally.retries);
  writer.member("dead_letters", tally.dead_letters);
  writer.member("success_rate", success_rate(tally));
  writer.key("failures");
  writer.open_object();
  for (std::size_t category = 0; category < tally.failures.size(); ++category) {
    if (tally.failures[category] != 0) {
      writer.member(to_string(static_cast<FailureCategory>(category)), tally.failures[category]);
    }
  }
  writer.close_object();
  write_durations(writer, tally);
}

struct Numbers {
  std::vector<SpanTally> buckets;
  std::vector<WebhookTally> webhooks;
};

Result<Numbers> read_numbers(Stats& stats, const StatsQuery& asked) {
  POSTRIDER_TRY(std::vector<SpanTally> buckets, stats.over_time(asked.filter, asked.bucket.length));
  POSTRIDER_TRY(std::vector<WebhookTally> webhooks, stats.by_webhook(asked.filter));
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

void write_webhooks(JsonWriter& writer, const StatsQuery& asked, const Numbers& numbers) {
  const std::size_t first = std::min<std::size_t>(asked.offset, numbers.webhooks.size());
  const std::size_t end = std::min<std::size_t>(first + asked.limit, numbers.webhooks.size());
  const std::span shown = std::span{numbers.webhooks}.subspan(first, end - first);
  const bool more = end < numbers.webhooks.size();
  const auto next = more ? std::optional{std::to_string(end)} : std::nullopt;
  const auto write_item = [](JsonWriter& list, const WebhookTally& webhook) {
    list.open_object();
    list.member("webhook_id", webhook.webhook_id);
    write_tally(list, webhook.tally);
    list.close_object();
  };
  writer.key("webhooks");
  open_list(writer, shown, next_cursor(ListKind::stats, next), write_item);
  writer.close_object();
}

std::string write_stats(const StatsQuery& asked, const Numbers& numbers) {
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
  write_buckets(writer, asked, numbers);
  write_webhooks(writer, asked, numbers);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> get_stats(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const StatsQuery asked, read_query(request, context));
  const auto query = [asked](Reader& reader) { return read_numbers(*reader.stats, asked); };
  auto pending = context.services.queries.read(query);
  const Result<Numbers> numbers = co_await std::move(pending);
  if (!numbers) {
    co_return tl::make_unexpected(to_problem(numbers.error()));
  }
  co_return json_answer(200, write_stats(asked, *numbers));
}

}  // namespace postrider::api
