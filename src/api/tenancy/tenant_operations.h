// Restricts the operations to one tenant (P11).
#pragma once

#include <memory>

#include "ports/operations.h"

namespace postrider::api {

/// `all` must outlive the result.
[[nodiscard]] std::unique_ptr<OperationReader> make_tenant_operations(OperationReader& all,
                                                                      TenantId tenant_id);

}  // namespace postrider::api
