// The operations of one tenant: the others do not exist (P11).
#pragma once

#include <memory>

#include "ports/operations.h"

namespace postrider::api {

/// `all` outlives it.
[[nodiscard]] std::unique_ptr<OperationReader> make_tenant_operations(OperationReader& all,
                                                                      TenantId tenant_id);

}  // namespace postrider::api
