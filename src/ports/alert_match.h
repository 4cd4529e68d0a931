// Which alerts a filter selects, for every list of alerts that is kept in memory.
#pragma once

#include <algorithm>

#include "ports/alerts.h"

namespace postrider {

[[nodiscard]] inline bool matches(const AlertFilter& filter, const Alert& alert) {
  const auto& kinds = filter.kinds;
  return (!filter.active || *filter.active == !alert.resolved_at) &&
         (!filter.tenant_id || filter.tenant_id == alert.tenant_id) &&
         (!filter.webhook_id || filter.webhook_id == alert.subject.webhook_id) &&
         (kinds.empty() || std::ranges::find(kinds, alert.subject.kind) != kinds.end());
}

}  // namespace postrider
