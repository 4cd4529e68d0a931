#include "engine/shard/tenants.h"

#include "core/base/assert.h"

namespace postrider {

TenantIndex Tenants::join(const TenantId& id) {
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
  tenants_[index] = Tenant{.id = id, .lanes = 1, .parked = Parked::no};
  by_id_.emplace(id, index);
  return index;
}

void Tenants::leave(TenantIndex index) {
  Tenant& tenant = tenants_[index];
  POSTRIDER_ASSERT(tenant.lanes > 0);
  if (--tenant.lanes > 0) {
    return;
  }
  by_id_.erase(tenant.id);
  free_.push_back(index);
}

const TenantIndex* Tenants::find(const TenantId& id) const {
  const auto found = by_id_.find(id);
  return found != by_id_.end() ? &found->second : nullptr;
}

}  // namespace postrider
