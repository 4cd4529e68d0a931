// The tenants that have lanes here.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/model/event.h"
#include "engine/shard/fair_share.h"

namespace postrider {

/// Why a tenant's lanes are passed over.
enum class Parked : std::uint8_t { no, slots, rate };

struct Tenant {
  TenantId id;
  std::uint32_t lanes = 0;
  Parked parked = Parked::no;
};

/// Gives each tenant with a lane a small number, which is used again when its last lane is gone.
class Tenants {
 public:
  [[nodiscard]] TenantIndex join(const TenantId& id);
  /// The tenant has one lane less.
  void leave(TenantIndex index);

  [[nodiscard]] const TenantIndex* find(const TenantId& id) const;
  [[nodiscard]] Tenant& at(TenantIndex index) { return tenants_[index]; }
  [[nodiscard]] const Tenant& at(TenantIndex index) const { return tenants_[index]; }

 private:
  std::vector<Tenant> tenants_;
  std::vector<TenantIndex> free_;
  std::unordered_map<TenantId, TenantIndex> by_id_;
};

}  // namespace postrider
