// The server as one tenant sees it: the one place where tenancy is enforced (P11).
//
// Webhooks, events and deliveries of others do not exist here, whatever asks for them: a lookup
// finds nothing, a list leaves them out, a change fails with not_found. What is created is the
// tenant's. What belongs to no tenant, such as keys and the audit log, is refused.
//
// Whoever adds a call to Service has to say here what it means for a tenant, or nothing compiles;
// a role added to Reader is not there for tenants until it is handed on in run_query.
#pragma once

#include <memory>

#include "runtime/admin/service.h"

namespace postrider::api {

/// `all` outlives it. Made for one request; used by its coroutine.
[[nodiscard]] std::shared_ptr<Service> make_tenant_service(Service& all, TenantId tenant_id);

}  // namespace postrider::api
