// Restricts the history and the alerts to one tenant.
#pragma once

#include <memory>

#include "engine/intake/directory.h"
#include "ports/alerts.h"
#include "ports/history.h"

namespace postrider::api {

/// Removes what a tenant is not told: which internal address its host resolved to.
void hide_internal_addresses(Outcome& outcome);

/// `all` must outlive the result; use it on the same thread. `webhooks` are the tenant's own.
[[nodiscard]] std::unique_ptr<History> make_tenant_history(
    History& all, TenantId tenant_id, std::shared_ptr<const Directory> webhooks);

/// Alerts about the tenant's webhooks. The server's own alerts are left out.
[[nodiscard]] std::unique_ptr<AlertReader> make_tenant_alerts(AlertReader& all, TenantId tenant_id);

}  // namespace postrider::api
