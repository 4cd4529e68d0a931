// The filters of delivery lists.
#pragma once

#include "ports/history.h"

#include "api/json/query_reader.h"
#include "api/resources/context.h"

namespace postrider::api {

struct DeliveryQuery {
  DeliveryFilter filter;
  Page page;
};

/// GET /v1/deliveries.
[[nodiscard]] Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request);

/// GET /v1/webhooks/{id}/deliveries: the webhook is given by the path.
[[nodiscard]] Parsed<DeliveryQuery> read_delivery_query(const HttpRequest& request,
                                                        WebhookId webhook);

enum class Age : std::uint8_t { under_1h, between_1h_and_24h, over_24h };

/// Dead letters that died so long before `now`.
void restrict_age(DeliveryFilter& filter, Age age, WallTime now);

struct DeadLetterQuery {
  DeliveryFilter filter;
  std::optional<Age> age;  // The filter does not know of it yet.
  Page page;
};

/// GET /v1/dlq: dead letters only, by age bucket as well.
[[nodiscard]] Parsed<DeadLetterQuery> read_dead_letter_query(const HttpRequest& request);

/// The same filters without a page: what DELETE /v1/dlq discards; at least one, or `all=true`.
/// `now` is what the age is counted from.
[[nodiscard]] Parsed<DeliveryFilter> read_dead_letter_filter(const HttpRequest& request,
                                                             WallTime now);

}  // namespace postrider::api
