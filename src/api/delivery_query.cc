#include "api/delivery_query.h"

#include <algorithm>
#include <chrono>

#include "api/pagination.h"

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

enum class Age : std::uint8_t { under_1h, between_1h_and_24h, over_24h };

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

/// What all the lists have in common.
DeliveryFilter read_common(QueryReader& query) {
  DeliveryFilter filter;
  filter.tenant_id = query.text("tenant_id");
  filter.event_id = query.one_of("event_id", EventId::parse, "an event's id (evt_…)");
  filter.event_types = query.list("event_type");
  filter.failure_categories =
      query.list_of("failure_category", parse_failure_category, categories_help);
  filter.from = query.time("from");
  filter.to = query.time("to");
  return filter;
}

void read_webhooks(QueryReader& query, DeliveryFilter& filter) {
  filter.webhook_ids = query.list_of("webhook_id", WebhookId::parse, "a webhook's id (whk_…)");
}

void read_classification(QueryReader& query, DeliveryFilter& filter) {
  filter.classification =
      query.one_of("classification", parse_classification, "permanent or recoverable");
}

/// Reads the page and closes the query.
Parsed<DeliveryQuery> finish(QueryReader& query, DeliveryFilter filter) {
  const Parsed<Page> page = read_history_page(query, ListKind::deliveries);
  if (std::optional<Problem> fault = query.fault()) {
    return tl::make_unexpected(*std::move(fault));
  }
  if (!page) {
    return tl::make_unexpected(page.error());
  }
  return DeliveryQuery{std::move(filter), *page};
}

}  // namespace

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

Parsed<DeliveryQuery> read_dead_letter_query(const HttpRequest& request, WallTime now) {
  QueryReader query{request};
  DeliveryFilter filter = read_common(query);
  filter.states = {DeliveryState::dead_letter};
  read_webhooks(query, filter);
  read_classification(query, filter);
  if (const auto age = query.one_of("age", parse_age, "lt_1h, 1h_24h or gt_24h")) {
    restrict_age(filter, *age, now);
  }
  return finish(query, std::move(filter));
}

}  // namespace postrider::api
