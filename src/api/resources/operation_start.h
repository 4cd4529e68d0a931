// Starts an operation on behalf of a request.
#pragma once

#include <string>

#include "ports/operations.h"

#include "api/resources/context.h"

namespace postrider::api {

struct OperationRequest {
  OperationKind kind = OperationKind::retry_batch;
  OperationSpec spec;
  std::string action;    // For the audit log.
  bool dry_run = false;  // Only count.
};

/// Answers 202 with the operation, or 200 with a count if it is a dry run. A tenant's operation is
/// restricted to that tenant's data.
[[nodiscard]] Awaitable<Reply> start_operation(Context context, OperationRequest request);

}  // namespace postrider::api
