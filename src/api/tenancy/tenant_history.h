// What happened, as far as it is one tenant's: what belongs to others is not there.
#pragma once

#include <memory>

#include "engine/intake/directory.h"
#include "ports/alerts.h"
#include "ports/history.h"

namespace postrider::api {

/// `all` outlives it. `webhooks` are the tenant's own. Same thread as `all`.
[[nodiscard]] std::unique_ptr<History> make_tenant_history(
    History& all, TenantId tenant_id, std::shared_ptr<const Directory> webhooks);

/// Alerts about the tenant's webhooks. The server's own are not theirs to see.
[[nodiscard]] std::unique_ptr<AlertReader> make_tenant_alerts(AlertReader& all, TenantId tenant_id);

}  // namespace postrider::api
