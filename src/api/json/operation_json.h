// Operations as JSON, and what a request says of one.
#pragma once

#include <string>

#include "core/model/webhook.h"
#include "ports/operations.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"
#include "api/resources/context.h"

namespace postrider::api {

/// `now`: what is left is estimated from it.
[[nodiscard]] std::string write_operation(const Operation& operation, WallTime now);
void write_operation(JsonWriter& writer, const Operation& operation, WallTime now);
/// The filter alone, for the audit log.
[[nodiscard]] std::string write_filter(const DeliveryFilter& filter);

/// When it will be done at its rate, or at the speed it has had; nullopt when nobody can tell.
[[nodiscard]] std::optional<WallTime> estimate_end(const Operation& operation, WallTime now);

/// The body of POST /v1/dlq/retry-batch.
[[nodiscard]] Parsed<OperationSpec> read_retry_batch(const HttpRequest& request, WallTime now);
/// The body of POST /v1/webhooks/{id}/replay.
[[nodiscard]] Parsed<OperationSpec> read_replay(const HttpRequest& request, const Webhook& webhook,
                                                WallTime now);

}  // namespace postrider::api
