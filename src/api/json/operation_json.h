// Writes operations as JSON and reads the requests that start one.
#pragma once

#include <string>

#include "core/model/webhook.h"
#include "ports/operations.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"
#include "api/resources/context.h"

namespace postrider::api {

/// `now` is used to estimate the end.
[[nodiscard]] std::string write_operation(const Operation& operation, WallTime now);
void write_operation(JsonWriter& writer, const Operation& operation, WallTime now);
/// Writes only the filter, for the audit log.
[[nodiscard]] std::string write_filter(const DeliveryFilter& filter);

/// Estimates the end from the rate limit, or else from the speed so far. Returns nullopt if the
/// operation is not running or there is nothing to estimate from.
[[nodiscard]] std::optional<WallTime> estimate_end(const Operation& operation, WallTime now);

/// What a request asks for.
struct OperationAsked {
  OperationSpec spec;
  bool dry_run = false;  // Only count what the operation would act on.
};

/// Reads the body of POST /v1/dlq/retry-batch.
[[nodiscard]] Parsed<OperationAsked> read_retry_batch(const HttpRequest& request, WallTime now);
/// Reads the body of POST /v1/webhooks/{id}/replay.
[[nodiscard]] Parsed<OperationAsked> read_replay(const HttpRequest& request, const Webhook& webhook,
                                                 WallTime now);

}  // namespace postrider::api
