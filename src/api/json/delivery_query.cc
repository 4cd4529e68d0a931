#include "api/json/delivery_query.h"

#include <algorithm>
#include <chrono>

#include "core/filter/event_type_filter.h"

#include "api/json/pagination.h"

namespace postrider::api {
namespace {

constexpr std::string_view states_help =
    "pending, retrying, succeeded, dead_letter or cancelled (in_flight and blocked are what "
    "pending and "
    "retrying deliveries are doing at the moment: ask for those)";
constexpr std::string_view categories_help =
    "a failure category: timeout, server_error, client_error, network, dns, ssl, rate_limit, "
    "payload_too_large, redirect, blocked_address or protocol";
constexpr std::chrono::hours fresh_max{1};
constexpr std::chrono::hours recent_max{24};

std::optional<Age> parse_age(std::string_view text) {
  if (text == "lt_1h") {
    return Age::under_1h;
  }
  if (text == "1h_24h") {
    return Age::between_1h_and_24h;
  }
  return text == "gt_24h" ? std::optional{Age::over_24h} : std::nullopt;
}

void not_before(DeliveryFilter& filter, WallTime time) {
  filter.from = std::max(filter.from.value_or(time), time);
}

void before(DeliveryFilter& filter, WallTime time) {
  filter.to = std::min(filter.to.value_or(time), time);
}

/// What all the lists have in common.
DeliveryFilter read_common(QueryReader& query) {
  DeliveryFilter filter;
  filter.tenant_id = query.text("tenant_id");
  filter.event_id = query.one_of("event_id", EventId::parse, "an event's id (evt_…)");
  filter.event_types = query.list_of("event_type", parse_event_type_word, event_type_words);
  filter.failure_categories =
      query.list_of("failure_category", parse_failure_category, categories_help);
  filter.classification =
      query.one_of("classification", parse_classification, "permanent or recoverable");
  filter.from = query.time("from");
  filter.to = query.time("to");
  return filter;
}

void read_webhooks(QueryReader& query, DeliveryFilter& filter) {
  filter.webhook_ids = query.list_of("webhook_id", WebhookId::parse, "a webhook's id (whk_…)");
}

/// Reads the page and closes the query.
Parsed<DeliveryQuery> finish(QueryReader& query, DeliveryFilter filter) {
  const Parsed<Page> page = read_history_page(query, ListKind::deliveries);
  if (!page) {
    return tl::make_unexpected(page.error());
  }
  return DeliveryQuery{std::move(filter), *page};
}

std::optional<Age> read_age(QueryReader& query) {
  return query.one_of("age", parse_age, "lt_1h, 1h_24h or gt_24h");
}

DeliveryFilter read_dead_letters(QueryReader& query) {
  DeliveryFilter filter = read_common(query);
  filter.states = {DeliveryState::dead_letter};
  read_webhooks(query, filter);
  return filter;
}

bool narrows(const DeliveryFilter& dead_letters) {
  DeliveryFilter everything;
  everything.states = {DeliveryState::dead_letter};
  return dead_letters != everything;
}

}  // namespace

void restrict_age(DeliveryFilter& filter, Age age, WallTime now) {
  switch (age) {
    case Age::under_1h:
      return not_before(filter, now - fresh_max);
    case Age::between_1h_and_24h:
      not_before(filter, now - recent_max);
      return before(filter, now - fresh_max);
    case Age::over_24h:
      return before(filter, now - recent_max);
  }
}

Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request) {
  QueryReader query{request};
  DeliveryFilter filter = read_common(query);
  filter.states = query.list_of("status", parse_delivery_state, states_help);
  read_webhooks(query, filter);
  return finish(query, std::move(filter));
}

Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request, WebhookId webhook) {
  QueryReader query{request};
  DeliveryFilter filter = read_common(query);
  filter.states = query.list_of("status", parse_delivery_state, states_help);
  filter.webhook_ids = {webhook};
  return finish(query, std::move(filter));
}

Parsed<DeadLetterQuery> read_dead_letter_query(const HttpRequest& request) {
  QueryReader query{request};
  DeliveryFilter filter = read_dead_letters(query);
  const std::optional<Age> age = read_age(query);
  Parsed<DeliveryQuery> finished = finish(query, std::move(filter));
  if (!finished) {
    return tl::make_unexpected(finished.error());
  }
  return DeadLetterQuery{std::move(finished->filter), age, finished->page};
}

Parsed<DeliveryFilter> read_dead_letter_filter(const HttpRequest& request, WallTime now) {
  QueryReader query{request};
  DeliveryFilter filter = read_dead_letters(query);
  if (const std::optional<Age> age = read_age(query)) {
    restrict_age(filter, *age, now);
  }
  const bool all = query.boolean("all").value_or(false);
  std::optional<Problem> fault = query.fault();
  if (!fault && all == narrows(filter)) {
    query.refuse("all", all ? "means every dead letter: leave it out beside a filter."
                            : "must be true to discard every dead letter; to discard some, give a "
                              "filter such as webhook_id, event_type or age.");
    fault = query.fault();
  }
  if (fault) {
    return tl::make_unexpected(*std::move(fault));
  }
  return filter;
}

}  // namespace postrider::api
