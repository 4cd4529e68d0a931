// Restricts the statistics to one tenant (P11).
#pragma once

#include <memory>

#include "ports/stats.h"

namespace postrider::api {

/// `all` must outlive the result; use it on the same thread.
[[nodiscard]] std::unique_ptr<Stats> make_tenant_stats(Stats& all, TenantId tenant_id);

}  // namespace postrider::api
