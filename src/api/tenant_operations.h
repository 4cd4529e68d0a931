// The operations of one tenant: the others do not exist (P11).
#pragma once

#include <memory>

#include "ports/operations.h"

namespace postrider::api {

/// `all` outlives it.
[[nodiscard]] std::unique_ptr<OperationList> make_tenant_operations(OperationList& all,
                                                                    TenantId tenant_id);

}  // namespace postrider::api
