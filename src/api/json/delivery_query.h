// Reads the query parameters of delivery and dead letter lists.
#pragma once

#include "ports/history.h"

#include "api/json/query_reader.h"
#include "api/resources/context.h"

namespace postrider::api {

/// Completes the error message "must be …".
constexpr std::string_view failure_category_words =
    "a failure category: timeout, server_error, client_error, network, dns, ssl, rate_limit, "
    "payload_too_large, redirect, blocked_address or protocol";

struct DeliveryQuery {
  DeliveryFilter filter;
  Page page;
  std::optional<DeliveryId> delivery_id = std::nullopt;  // Only this one.
};

/// The query of GET /v1/deliveries.
[[nodiscard]] Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request);

/// The query of GET /v1/webhooks/{id}/deliveries, with the webhook from the path.
[[nodiscard]] Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request,
                                                        WebhookId webhook);

enum class DeadLetterAge : std::uint8_t { under_1h, between_1h_and_24h, over_24h };

[[nodiscard]] std::string_view to_string(DeadLetterAge age);
/// The age at `now` of a dead letter that became one at `died_at`.
[[nodiscard]] DeadLetterAge age_of(WallTime died_at, WallTime now);

/// Restricts the filter to dead letters of that age at `now`.
void restrict_age(DeliveryFilter& filter, DeadLetterAge age, WallTime now);

struct DeadLetterQuery {
  DeliveryFilter filter;
  std::optional<DeadLetterAge> age;  // Not part of `filter` yet; see restrict_age().
  Page page;
};

/// The query of GET /v1/dlq.
[[nodiscard]] Parsed<DeadLetterQuery> read_dead_letter_query(const HttpRequest& request);

struct DiscardQuery {
  DeliveryFilter filter;
  bool dry_run = false;  // Only count.
};

/// The parameters of `query` that select dead letters, as in GET /v1/dlq. The age is relative to
/// `now`.
[[nodiscard]] DeliveryFilter read_dead_letter_filter(QueryReader& query, WallTime now);

/// The query of DELETE /v1/dlq: at least one filter, or `all=true`. The age is relative to `now`.
[[nodiscard]] Parsed<DiscardQuery> read_discard_query(const HttpRequest& request, WallTime now);

}  // namespace postrider::api
