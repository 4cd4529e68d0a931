#include "adapters/sql/admin/webhook_row.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/parse_number.h"

#include "adapters/sql/admin/webhook_secrets.h"
#include "adapters/sql/upsert.h"

namespace postrider::sql {
namespace {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(SignatureScheme::standard) == 0 &&
              static_cast<int>(SignatureScheme::sha256_body) == 4);
static_assert(static_cast<int>(PayloadFormat::standard) == 0 &&
              static_cast<int>(PayloadFormat::raw) == 5);
static_assert(static_cast<int>(PayloadForm::verbatim) == 0 &&
              static_cast<int>(PayloadForm::sorted) == 2);
static_assert(static_cast<int>(Ordering::none) == 0 && static_cast<int>(Ordering::strict) == 2);
static_assert(static_cast<int>(BreakerWindow::time) == 0);
static_assert(static_cast<int>(HeaderSet::platform) == 0 &&
              static_cast<int>(HeaderSet::tenant) == 4);

#define POSTRIDER_WEBHOOK_COLUMNS                                                             \
  "id, tenant_id, url, events, name, owner_id, resource_id, description, headers, metadata,"  \
  " secret, signature_scheme, signature_header_prefix, signature_standard_headers,"           \
  " signature_prefixed_headers, payload_format, retry_delay_base_ms, retry_multiplier,"       \
  " retry_delay_max_ms, retry_schedule_ms, retry_jitter_minus, retry_jitter_plus,"            \
  " retry_jitter_extra_ms, retry_attempts_max, retry_timeout_ms, retry_timeout_growth,"       \
  " retry_permanent_statuses, breaker_enabled, breaker_window, breaker_window_size_ms,"       \
  " breaker_window_calls, breaker_minimum_throughput, breaker_error_threshold_percentage,"    \
  " breaker_failure_count_threshold, breaker_sleep_window_ms, breaker_sleep_multiplier,"      \
  " breaker_sleep_max_ms, breaker_half_open_max_calls, breaker_half_open_success_percentage," \
  " rate_count, rate_period_ms, rate_burst, max_in_flight, ordering, active, paused,"         \
  " disabled_reason, created_at, updated_at, signature_header_set,"                           \
  " retry_category_minimums, filter, secret_set_at, old_secrets, disabled_at, sealed,"        \
  " retry_attempts_auto, payload_form, retry_ssl_attempts_max, retry_honor_retry_after,"      \
  " breaker_force_open_until, breaker_consecutive_failure_threshold, owner_email"

constexpr std::string_view select_sql =
    "SELECT " POSTRIDER_WEBHOOK_COLUMNS " FROM webhook ORDER BY id";
constexpr std::string_view find_sql =
    "SELECT " POSTRIDER_WEBHOOK_COLUMNS " FROM webhook WHERE id = ?1";

std::string join_patterns(const std::vector<EventPattern>& patterns) {
  std::string text;
  for (const EventPattern& pattern : patterns) {
    text.append(text.empty() ? "" : "\n").append(pattern.text());
  }
  return text;
}

/// Calls `take` with each part. An empty text has no parts.
template <class Take>
void split(std::string_view text, char separator, Take take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Reads a row's columns from left to right.
class Columns {
 public:
  explicit Columns(const Query& query) : query_(query) {}

  std::string text() { return query_.text(column_++); }
  std::optional<std::string> text_or_null() { return query_.text_or_null(column_++); }
  double real() { return query_.real(column_++); }
  bool flag() { return query_.integer(column_++) != 0; }
  Millis millis() { return Millis{query_.integer(column_++)}; }
  WallTime time() { return query_.time(column_++); }
  std::optional<WallTime> time_or_null() { return query_.time_or_null(column_++); }
  WebhookId id() { return query_.id<WebhookId>(column_++); }
  template <class Number>
  Number as() {
    return query_.as<Number>(column_++);
  }
  [[nodiscard]] bool null_ahead() const { return query_.is_null(column_); }

 private:
  const Query& query_;
  int column_ = 0;
};

// A braced list is evaluated from left to right, so its order must be the order of the columns.

RetryPolicy read_retry(Columns& row) {
  RetryPolicy retry;
  retry.delay_base = row.millis();
  retry.multiplier = row.real();
  retry.delay_max = row.millis();
  split(row.text(), ',', [&retry](std::string_view part) {
    retry.schedule.emplace_back(parse_number<std::int64_t>(part).value_or(0));
  });
  retry.jitter = {.minus = row.real(), .plus = row.real(), .extra = row.millis()};
  retry.attempts_max = row.as<std::uint32_t>();
  retry.timeout = row.millis();
  retry.timeout_growth = row.real();
  retry.permanent_statuses.clear();
  split(row.text(), ',', [&retry](std::string_view part) {
    retry.permanent_statuses.push_back(parse_number<std::uint16_t>(part).value_or(0));
  });
  return retry;
}

BreakerPolicy read_breaker(Columns& row) {
  return {.enabled = row.flag(),
          .window = row.as<BreakerWindow>(),
          .window_size = row.millis(),
          .window_calls = row.as<std::uint32_t>(),
          .minimum_throughput = row.as<std::uint32_t>(),
          .error_threshold_percentage = row.real(),
          .failure_count_threshold = row.as<std::uint32_t>(),
          .sleep_window = row.millis(),
          .sleep_multiplier = row.real(),
          .sleep_max = row.millis(),
          .half_open_max_calls = row.as<std::uint32_t>(),
          .half_open_success_percentage = row.real()};
}

std::optional<RateLimit> read_rate_limit(Columns& row) {
  const bool none = row.null_ahead();
  const RateLimit limit{
      .count = row.as<std::uint32_t>(), .period = row.millis(), .burst = row.as<std::uint32_t>()};
  return none ? std::nullopt : std::optional{limit};
}

Result<std::vector<EventPattern>> parse_patterns(std::string_view text) {
  std::vector<EventPattern> patterns;
  bool intact = true;
  split(text, '\n', [&](std::string_view line) {
    std::optional<EventPattern> pattern = EventPattern::parse(line);
    if (pattern) {
      patterns.push_back(*std::move(pattern));
    } else {
      intact = false;
    }
  });
  if (!intact) {
    return fail(Errc::corrupt, "A stored event pattern is damaged.");
  }
  return patterns;
}

Result<std::optional<Filter>> parse_filter(const std::optional<std::string>& text) {
  if (!text) {
    return std::nullopt;
  }
  tl::expected<Filter, FilterFault> filter = Filter::parse(*text);
  if (!filter) {
    return fail(Errc::corrupt, "A stored filter is damaged: " + filter.error().message);
  }
  return *std::move(filter);
}

Result<Webhook> read_webhook(const Query& query, const Vault* vault) {
  Columns row{query};
  Webhook webhook;
  SecretColumns secrets;
  webhook.id = row.id();
  webhook.tenant_id = row.text();
  webhook.url = row.text();
  POSTRIDER_TRY(webhook.events, parse_patterns(row.text()));
  webhook.name = row.text_or_null();
  webhook.owner_id = row.text_or_null();
  webhook.resource_id = row.text_or_null();
  webhook.description = row.text_or_null();
  secrets.headers = row.text();
  webhook.metadata = row.text();
  secrets.secret = row.text();
  webhook.signature = {.scheme = row.as<SignatureScheme>(),
                       .header_prefix = row.text(),
                       .standard_headers = row.flag(),
                       .prefixed_headers = row.flag()};
  webhook.payload_format = row.as<PayloadFormat>();
  webhook.retry = read_retry(row);
  webhook.breaker = read_breaker(row);
  webhook.rate_limit = read_rate_limit(row);
  webhook.max_in_flight = row.as<std::uint32_t>();
  webhook.ordering = row.as<Ordering>();
  webhook.active = row.flag();
  webhook.paused = row.flag();
  webhook.disabled_reason = row.text_or_null();
  webhook.created_at = row.time();
  webhook.updated_at = row.time();
  webhook.signature.header_set = row.as<HeaderSet>();
  webhook.retry.category_minimums = row.flag();
  POSTRIDER_TRY(webhook.filter, parse_filter(row.text_or_null()));
  webhook.secret_set_at = row.time();
  secrets.old_secrets = row.text();
  webhook.disabled_at = row.time_or_null();
  secrets.sealed = row.flag();
  webhook.retry.attempts_auto = row.flag();
  webhook.payload_form = row.as<PayloadForm>();
  webhook.retry.ssl_attempts_max = row.as<std::uint32_t>();
  webhook.retry.honor_retry_after = row.flag();
  webhook.breaker.force_open_until = row.time_or_null();
  webhook.breaker.consecutive_failure_threshold = row.as<std::uint32_t>();
  webhook.owner_email = row.text_or_null();
  POSTRIDER_CHECK(unpack_secrets(secrets, vault, webhook));
  return webhook;
}

std::string join_schedule(const std::vector<Millis>& schedule) {
  std::vector<std::int64_t> counts;
  counts.reserve(schedule.size());
  for (const Millis step : schedule) {
    counts.push_back(step.count());
  }
  return fmt::format("{}", fmt::join(counts, ","));
}

}  // namespace

Result<std::vector<Webhook>> read_webhooks(Database& database, const Vault* vault) {
  POSTRIDER_TRY(Statement statement, database.prepare(select_sql));
  std::vector<Webhook> webhooks;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return webhooks;
    }
    POSTRIDER_TRY(Webhook webhook, read_webhook(query, vault));
    webhooks.push_back(std::move(webhook));
  }
}

Result<std::optional<Webhook>> find_webhook(Database& database, const Vault* vault, WebhookId id) {
  POSTRIDER_TRY(Statement statement, database.prepare(find_sql));
  Query query = statement.query(id);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  return read_webhook(query, vault).map([](Webhook webhook) {
    return std::optional{std::move(webhook)};
  });
}

Result<void> write_webhook(Database& database, const Webhook& webhook, const Vault* vault) {
  POSTRIDER_TRY(
      Statement statement,
      database.prepare(upsert_sql("webhook", {.all = POSTRIDER_WEBHOOK_COLUMNS, .key = "id"})));
  const SecretColumns secrets = pack_secrets(webhook, vault);
  const SignaturePolicy& signature = webhook.signature;
  const RetryPolicy& retry = webhook.retry;
  const BreakerPolicy& breaker = webhook.breaker;
  std::optional<std::uint32_t> rate_count;
  std::optional<Millis> rate_period;
  std::optional<std::uint32_t> rate_burst;
  if (webhook.rate_limit) {
    rate_count = webhook.rate_limit->count;
    rate_period = webhook.rate_limit->period;
    rate_burst = webhook.rate_limit->burst;
  }
  return statement.run(
      webhook.id, webhook.tenant_id, webhook.url, join_patterns(webhook.events), webhook.name,
      webhook.owner_id, webhook.resource_id, webhook.description, Blob{secrets.headers},
      webhook.metadata, Blob{secrets.secret}, signature.scheme, signature.header_prefix,
      signature.standard_headers, signature.prefixed_headers, webhook.payload_format,
      retry.delay_base, retry.multiplier, retry.delay_max, join_schedule(retry.schedule),
      retry.jitter.minus, retry.jitter.plus, retry.jitter.extra, retry.attempts_max, retry.timeout,
      retry.timeout_growth, fmt::format("{}", fmt::join(retry.permanent_statuses, ",")),
      breaker.enabled, breaker.window, breaker.window_size, breaker.window_calls,
      breaker.minimum_throughput, breaker.error_threshold_percentage,
      breaker.failure_count_threshold, breaker.sleep_window, breaker.sleep_multiplier,
      breaker.sleep_max, breaker.half_open_max_calls, breaker.half_open_success_percentage,
      rate_count, rate_period, rate_burst, webhook.max_in_flight, webhook.ordering, webhook.active,
      webhook.paused, webhook.disabled_reason, webhook.created_at, webhook.updated_at,
      signature.header_set, retry.category_minimums,
      webhook.filter ? std::optional{webhook.filter->text()} : std::nullopt, webhook.secret_set_at,
      Blob{secrets.old_secrets}, webhook.disabled_at, secrets.sealed, retry.attempts_auto,
      webhook.payload_form, retry.ssl_attempts_max, retry.honor_retry_after,
      breaker.force_open_until, breaker.consecutive_failure_threshold, webhook.owner_email);
}

}  // namespace postrider::sql
