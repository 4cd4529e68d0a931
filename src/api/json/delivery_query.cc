#include "api/json/delivery_query.h"

#include <algorithm>
#include <chrono>

#include "core/base/enum_names.h"
#include "core/filter/event_type_filter.h"

#include "api/json/pagination.h"
#include "api/json/status_words.h"

namespace postrider::api {
namespace {

constexpr std::chrono::hours young_max{1};
constexpr std::chrono::hours recent_max{24};

constexpr EnumNames<DeadLetterAge, DeadLetterAge::over_24h> age_names{
    {"lt_1h", "1h_24h", "gt_24h"}};

std::optional<DeadLetterAge> parse_age(std::string_view text) { return age_names.find(text); }

void restrict_from(DeliveryFilter& filter, WallTime time) {
  filter.from = std::max(filter.from.value_or(time), time);
}

void restrict_to(DeliveryFilter& filter, WallTime time) {
  filter.to = std::min(filter.to.value_or(time), time);
}

/// The parameters that all lists have.
DeliveryFilter read_common(QueryReader& query) {
  DeliveryFilter filter;
  filter.tenant_id = query.text("tenant_id");
  filter.event_id = query.one_of("event_id", EventId::parse, "an event's id (evt_…)");
  filter.resource_id = query.text("resource_id");
  filter.event_types = query.list_of("event_type", parse_event_type_word, event_type_words);
  filter.failure_categories =
      query.list_of("failure_category", parse_failure_category, failure_category_words);
  filter.classification =
      query.one_of("classification", parse_classification, "permanent or recoverable");
  filter.from = query.time("from");
  filter.to = query.end_time("to");
  return filter;
}

void read_states(QueryReader& query, DeliveryFilter& filter) {
  StatusFilter status = read_status(query);
  filter.states = std::move(status.states);
  filter.circuit_blocked = status.circuit_blocked;
}

void read_webhooks(QueryReader& query, DeliveryFilter& filter) {
  filter.webhook_ids = query.list_of("webhook_id", WebhookId::parse, "a webhook's id (whk_…)");
}

/// Reads `q`: the id of a delivery, which is returned, or of an event.
std::optional<DeliveryId> read_id(QueryReader& query, DeliveryFilter& filter) {
  const std::optional<std::string> text = query.text("q");
  if (!text) {
    return std::nullopt;
  }
  const std::optional<EventId> event_id = EventId::parse(*text);
  const std::optional<DeliveryId> delivery_id = DeliveryId::parse(*text);
  if (!event_id && !delivery_id) {
    query.refuse("q", "must be the id of a delivery (dlv_…) or of an event (evt_…).");
  }
  if (event_id && filter.event_id) {
    query.refuse("q", "cannot be combined with `event_id`.");
  }
  filter.event_id = event_id ? event_id : filter.event_id;
  return delivery_id;
}

/// Reads the page and checks the whole query.
Parsed<DeliveryQuery> finish(QueryReader& query, DeliveryFilter filter) {
  POSTRIDER_TRY(const Page page, read_history_page(query, ListKind::deliveries));
  return DeliveryQuery{.filter = std::move(filter), .page = page};
}

/// The parameters of the lists that have all states.
Parsed<DeliveryQuery> read_any(QueryReader& query, DeliveryFilter filter) {
  read_states(query, filter);
  const std::optional<DeliveryId> delivery_id = read_id(query, filter);
  POSTRIDER_TRY(DeliveryQuery asked, finish(query, std::move(filter)));
  asked.delivery_id = delivery_id;
  return asked;
}

std::optional<DeadLetterAge> read_age(QueryReader& query) {
  return query.one_of("age", parse_age, "lt_1h, 1h_24h or gt_24h");
}

DeliveryFilter read_dead_letters(QueryReader& query) {
  DeliveryFilter filter = read_common(query);
  filter.states = {DeliveryState::dead_letter};
  read_webhooks(query, filter);
  return filter;
}

bool is_restricted(const DeliveryFilter& dead_letters) {
  DeliveryFilter all;
  all.states = {DeliveryState::dead_letter};
  return dead_letters != all;
}

}  // namespace

std::string_view to_string(DeadLetterAge age) { return age_names.name(age); }

DeadLetterAge age_of(WallTime died_at, WallTime now) {
  if (died_at >= now - young_max) {
    return DeadLetterAge::under_1h;
  }
  return died_at >= now - recent_max ? DeadLetterAge::between_1h_and_24h : DeadLetterAge::over_24h;
}

void restrict_age(DeliveryFilter& filter, DeadLetterAge age, WallTime now) {
  switch (age) {
    case DeadLetterAge::under_1h:
      return restrict_from(filter, now - young_max);
    case DeadLetterAge::between_1h_and_24h:
      restrict_from(filter, now - recent_max);
      return restrict_to(filter, now - young_max);
    case DeadLetterAge::over_24h:
      return restrict_to(filter, now - recent_max);
  }
}

Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request) {
  QueryReader query{request};
  DeliveryFilter filter = read_common(query);
  read_webhooks(query, filter);
  return read_any(query, std::move(filter));
}

Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request, WebhookId webhook) {
  QueryReader query{request};
  DeliveryFilter filter = read_common(query);
  filter.webhook_ids = {webhook};
  return read_any(query, std::move(filter));
}

Parsed<DeadLetterQuery> read_dead_letter_query(const HttpRequest& request) {
  QueryReader query{request};
  check_dead_letter_status(query);
  DeliveryFilter filter = read_dead_letters(query);
  const std::optional<DeadLetterAge> age = read_age(query);
  POSTRIDER_TRY(DeliveryQuery finished, finish(query, std::move(filter)));
  return DeadLetterQuery{std::move(finished.filter), age, finished.page};
}

DeliveryFilter read_dead_letter_filter(QueryReader& query, WallTime now) {
  DeliveryFilter filter = read_dead_letters(query);
  if (const std::optional<DeadLetterAge> age = read_age(query)) {
    restrict_age(filter, *age, now);
  }
  return filter;
}

Parsed<DiscardQuery> read_discard_query(const HttpRequest& request, WallTime now) {
  QueryReader query{request};
  DeliveryFilter filter = read_dead_letter_filter(query, now);
  const bool all = query.boolean("all").value_or(false);
  const bool dry_run = query.boolean("dry_run").value_or(false);
  POSTRIDER_CHECK(query.finish());
  if (all == is_restricted(filter)) {
    query.refuse("all", all ? "cannot be combined with a filter. Send only one of them."
                            : "must be true to discard every dead letter. To discard some, use a "
                              "filter such as webhook_id, event_type or age.");
  }
  POSTRIDER_CHECK(query.finish());
  return DiscardQuery{std::move(filter), dry_run};
}

}  // namespace postrider::api
