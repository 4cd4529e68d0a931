// Restricts the service to one tenant: the only place that enforces tenancy (P11).
//
// Data of other tenants does not exist here: a look-up finds nothing, a list leaves it out, a
// change fails with not_found. Whatever is created belongs to the tenant. What belongs to no
// tenant, such as the audit log, is refused.
//
// A method added to an interface of service.h does not compile until it is restricted here. A role
// added to Reader is null for tenants until run_query passes it on.
#pragma once

#include <memory>

#include "runtime/admin/service.h"

namespace postrider::api {

/// `all` must outlive the result. Made for one request; used by its coroutine.
[[nodiscard]] std::shared_ptr<Service> make_tenant_service(Service& all, TenantId tenant_id);

}  // namespace postrider::api
