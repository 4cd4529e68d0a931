#include "engine/tenants.h"

#include "core/assert.h"

namespace postrider {

TenantIndex Tenants::join(const TenantId& id, MonoTime now) {
  if (const auto found = by_id_.find(id); found != by_id_.end()) {
    ++tenants_[found->second].lanes;
    return found->second;
  }
  TenantIndex index = static_cast<TenantIndex>(tenants_.size());
  if (free_.empty()) {
    tenants_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Tenant& tenant = tenants_[index];
  tenant = Tenant{.id = id, .lanes = 1, .in_flight = 0, .bucket = {}, .parked = Parked::no};
  if (rate_) {
    tenant.bucket.emplace(*rate_, now);
  }
  by_id_.emplace(id, index);
  return index;
}

void Tenants::leave(TenantIndex index) {
  Tenant& tenant = tenants_[index];
  POSTRIDER_ASSERT(tenant.lanes > 0);
  if (--tenant.lanes > 0) {
    return;
  }
  POSTRIDER_ASSERT(tenant.in_flight == 0);
  by_id_.erase(tenant.id);
  free_.push_back(index);
}

}  // namespace postrider
