#include "runtime/cluster/own_pool.h"

#include <memory>
#include <set>
#include <utility>

namespace postrider {
namespace {

bool is_in(const std::string& pool, const TenantPools& pools, const TenantId& tenant_id) {
  const auto found = pools.find(tenant_id);
  return found == pools.end() ? pool.empty() : found->second == pool;
}

}  // namespace

TenantPools pools_of(const AccessSnapshot& access) {
  TenantPools pools;
  for (const auto& [serial, tenant] : access.tenants()) {
    if (tenant->pool && !tenant->pool->empty()) {
      pools.emplace(tenant->id, *tenant->pool);
    }
  }
  return pools;
}

OwnPool::OwnPool(std::string name, TenantPools pools)
    : name_(std::move(name)), pools_(std::move(pools)) {}

bool OwnPool::includes(const TenantId& tenant_id) const {
  return is_in(name_, *pools_.get(), tenant_id);
}

bool OwnPool::includes_all() const { return name_.empty() && pools_.get()->empty(); }

OwnPool::Moved OwnPool::change(TenantPools pools) {
  const std::shared_ptr<const TenantPools> before = pools_.get();
  std::set<TenantId> tenants;
  for (const TenantPools* each : {before.get(), &std::as_const(pools)}) {
    for (const auto& [tenant_id, pool] : *each) {
      tenants.insert(tenant_id);
    }
  }
  Moved moved;
  for (const TenantId& tenant_id : tenants) {
    const bool was = is_in(name_, *before, tenant_id);
    const bool is = is_in(name_, pools, tenant_id);
    if (was != is) {
      (is ? moved.added : moved.removed).push_back(tenant_id);
    }
  }
  pools_.replace(std::move(pools));
  return moved;
}

}  // namespace postrider
