// The tenants that have lanes here: how much of the shard each is using.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/event.h"
#include "core/time.h"
#include "core/token_bucket.h"
#include "engine/fair_share.h"

namespace postrider {

/// Why a tenant's lanes are passed over.
enum class Parked : std::uint8_t { no, slots, rate };

struct Tenant {
  TenantId id;
  std::uint32_t lanes = 0;
  std::uint32_t in_flight = 0;
  std::optional<TokenBucket> bucket;
  Parked parked = Parked::no;
};

/// Gives each tenant with a lane a small number, which is used again when its last lane is gone.
class Tenants {
 public:
  explicit Tenants(std::optional<RateLimit> rate) : rate_(rate) {}

  [[nodiscard]] TenantIndex join(const TenantId& id, MonoTime now);
  /// The tenant has one lane less, and none of its attempts is in flight in it.
  void leave(TenantIndex index);

  [[nodiscard]] Tenant& at(TenantIndex index) { return tenants_[index]; }
  [[nodiscard]] const Tenant& at(TenantIndex index) const { return tenants_[index]; }

 private:
  std::optional<RateLimit> rate_;
  std::vector<Tenant> tenants_;
  std::vector<TenantIndex> free_;
  std::unordered_map<TenantId, TenantIndex> by_id_;
};

}  // namespace postrider
