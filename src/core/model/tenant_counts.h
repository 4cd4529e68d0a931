// Numbers of deliveries for each tenant and priority, or the changes of such numbers.
#pragma once

#include <cstdint>
#include <map>

#include "core/model/event.h"
#include "core/model/priority_counts.h"

namespace postrider {

struct TenantCounts {
  std::map<TenantId, PriorityCounts> tenants;

  /// Adds a tenant without counts if it is missing.
  [[nodiscard]] PriorityCounts& operator[](const TenantId& tenant_id) { return tenants[tenant_id]; }

  /// The sums over all tenants.
  [[nodiscard]] PriorityCounts by_priority() const {
    PriorityCounts sum;
    for (const auto& [tenant_id, counts] : tenants) {
      sum += counts;
    }
    return sum;
  }
  [[nodiscard]] std::int64_t total() const { return by_priority().total(); }

  /// Removes the tenants without counts.
  void remove_zeros() {
    std::erase_if(tenants, [](const auto& each) { return each.second == PriorityCounts{}; });
  }

  TenantCounts& operator+=(const TenantCounts& other) {
    for (const auto& [tenant_id, counts] : other.tenants) {
      tenants[tenant_id] += counts;
    }
    return *this;
  }

  bool operator==(const TenantCounts&) const = default;
};

}  // namespace postrider
