// The filters of delivery lists.
#pragma once

#include "ports/history.h"

#include "api/context.h"
#include "api/query_reader.h"

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

/// GET /v1/dlq: dead letters only, by age bucket as well. `now` is what the age is counted from.
[[nodiscard]] Parsed<DeliveryQuery> read_dead_letter_query(const HttpRequest& request,
                                                           WallTime now);

}  // namespace postrider::api
