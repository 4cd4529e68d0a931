// GET /v1/attempts and GET /v1/webhooks/{id}/attempts.
#include <charconv>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/filter/event_type_filter.h"

#include "api/json/delivery_query.h"
#include "api/json/list_answer.h"
#include "api/json/status_words.h"
#include "api/json/webhook_json.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

struct AttemptQuery {
  AttemptFilter filter;
  AttemptPage page;
};

/// A position in a cursor: `<milliseconds>.<delivery>.<number>`.
std::string to_text(const AttemptPosition& position) {
  return fmt::format("{}.{}.{}", to_unix_ms(position.executed_at), position.delivery,
                     position.number);
}

std::optional<AttemptPosition> parse_position(std::string_view text) {
  std::int64_t numbers[3] = {};
  for (std::int64_t& number : numbers) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    text.remove_prefix(text.starts_with('.') ? 1 : 0);
  }
  return AttemptPosition{.executed_at = wall_from_unix_ms(numbers[0]),
                         .delivery = numbers[1],
                         .number = static_cast<std::uint32_t>(numbers[2])};
}

/// Everything except the webhook.
AttemptFilter read_filter(QueryReader& query) {
  AttemptFilter filter;
  filter.tenant_id = query.text("tenant_id");
  filter.delivery_id = query.one_of("delivery_id", DeliveryId::parse, "a delivery's id (dlv_…)");
  filter.statuses = query.list_of("status", parse_attempt_status, attempt_status_words);
  filter.event_types = query.list_of("event_type", parse_event_type_word, event_type_words);
  filter.failure_categories =
      query.list_of("failure_category", parse_failure_category, failure_category_words);
  filter.from = query.time("from");
  filter.to = query.end_time("to");
  return filter;
}

Parsed<AttemptQuery> finish(QueryReader& query, AttemptFilter filter) {
  POSTRIDER_TRY(const PageQuery page, read_page(query, ListKind::attempts));
  AttemptQuery asked{.filter = std::move(filter),
                     .page = {.limit = page.limit, .offset = page.offset}};
  if (page.position) {
    asked.page.before = parse_position(*page.position);
    if (!asked.page.before) {
      return tl::make_unexpected(invalid_cursor());
    }
  }
  return asked;
}

Parsed<AttemptQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  AttemptFilter filter = read_filter(query);
  filter.webhook_ids = query.list_of("webhook_id", WebhookId::parse, "a webhook's id (whk_…)");
  return finish(query, std::move(filter));
}

Parsed<AttemptQuery> read_query(const HttpRequest& request, const Parsed<WebhookRef>& webhook) {
  if (!webhook) {
    return tl::make_unexpected(webhook.error());
  }
  QueryReader query{request};
  AttemptFilter filter = read_filter(query);
  filter.webhook_ids = {(*webhook)->id};
  return finish(query, std::move(filter));
}

void write_record(JsonWriter& writer, const AttemptRecord& record) {
  open_attempt(writer, record.attempt);
  writer.member("delivery_id", record.delivery_id);
  writer.member("event_id", record.event_id);
  writer.member("webhook_id", record.webhook_id);
  write_tenant_id(writer, record.tenant_id);
  writer.member("event_type", record.event_type);
  writer.close_object();
}

Result<ListedAttempts> read_attempts(Reader& reader, const AttemptQuery& asked) {
  return reader.history->list_attempts(asked.filter, asked.page);
}

std::string write_attempts(const ListedAttempts& listed) {
  const std::optional<std::string> next =
      listed.next ? std::optional{to_text(*listed.next)} : std::nullopt;
  return write_list(listed.items, next_cursor(ListKind::attempts, next), write_record);
}

}  // namespace

Awaitable<Reply> list_attempts(Context context, HttpRequest request) {
  return answer_list(std::move(context), read_query(request), read_attempts, write_attempts);
}

Awaitable<Reply> list_webhook_attempts(Context context, HttpRequest request) {
  Parsed<AttemptQuery> asked =
      read_query(request, path_webhook(context.services.snapshots, request));
  return answer_list(std::move(context), std::move(asked), read_attempts, write_attempts);
}

}  // namespace postrider::api
