// Numbers over time, as far as they are one tenant's.
#pragma once

#include <memory>

#include "ports/stats.h"

namespace postrider::api {

/// `all` outlives it. Same thread as `all`.
[[nodiscard]] std::unique_ptr<Stats> make_tenant_stats(Stats& all, TenantId tenant_id);

}  // namespace postrider::api
