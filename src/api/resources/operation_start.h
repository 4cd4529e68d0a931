// Starts an operation and answers with it.
#pragma once

#include <string>

#include "ports/operations.h"

#include "api/resources/context.h"

namespace postrider::api {

struct OperationRequest {
  OperationKind kind = OperationKind::retry_batch;
  OperationSpec spec;
  std::string action;  // For the audit log.
};

/// 202 with the operation. A caller of one tenant works on that tenant's things only.
[[nodiscard]] Awaitable<HttpResponse> start_operation(Context context, OperationRequest asked);

}  // namespace postrider::api
