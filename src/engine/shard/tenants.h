// The tenants that have lanes in this shard.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/model/event.h"
#include "engine/shard/fair_share.h"

namespace postrider {

/// Why a tenant's lanes are skipped. `slots`: only its attempts of some ranks are.
enum class Parked : std::uint8_t { no, slots, rate };

struct Tenant {
  TenantId id;
  std::uint32_t lanes = 0;
  Parked parked = Parked::no;
};

/// Gives each tenant with a lane a small index, which is reused after its last lane is removed.
class Tenants {
 public:
  /// Call when a lane is added.
  [[nodiscard]] TenantIndex join(const TenantId& id);
  /// Call when a lane is removed.
  void leave(TenantIndex index);

  /// Null if the tenant has no lane.
  [[nodiscard]] const TenantIndex* find(const TenantId& id) const;
  [[nodiscard]] Tenant& at(TenantIndex index) { return tenants_[index]; }
  [[nodiscard]] const Tenant& at(TenantIndex index) const { return tenants_[index]; }

 private:
  std::vector<Tenant> tenants_;
  std::vector<TenantIndex> free_;
  std::unordered_map<TenantId, TenantIndex> by_id_;
};

}  // namespace postrider
