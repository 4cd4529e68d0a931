#include "engine/intake/fanout_turns.h"

#include <algorithm>
#include <utility>

namespace postrider {

std::uint32_t next_fanout_step(std::uint32_t size, Micros took) {
  constexpr Micros long_step{15'000};
  if (took > long_step) {
    return std::max(size / 2, fanout_step_min);
  }
  return took < long_step / 3 ? std::min(size * 2, fanout_step_max) : size;
}

void FanoutTurns::add(const TenantId& tenant_id, std::uint64_t deliveries) {
  open_[tenant_id] += deliveries;
  remaining_ += deliveries;
}

void FanoutTurns::reset(std::map<TenantId, std::uint64_t> open) {
  open_ = std::move(open);
  remaining_ = 0;
  for (const auto& [tenant_id, deliveries] : open_) {
    remaining_ += deliveries;
  }
}

std::optional<TenantId> FanoutTurns::next() const {
  if (open_.empty()) {
    return std::nullopt;
  }
  const auto found = last_ ? open_.upper_bound(*last_) : open_.begin();
  return found == open_.end() ? open_.begin()->first : found->first;
}

void FanoutTurns::end_turn(const TenantId& tenant_id, std::uint64_t deliveries, bool finished) {
  last_ = tenant_id;
  const auto found = open_.find(tenant_id);
  if (found == open_.end()) {
    return;
  }
  const std::uint64_t ended = finished ? found->second : std::min(found->second, deliveries);
  remaining_ -= ended;
  found->second -= ended;
  if (finished) {
    open_.erase(found);
  }
}

FanoutAdmission FanoutTurns::admit(const TenantId& tenant_id,
                                   const FanoutBacklogLimits& limits) const {
  const auto found = open_.find(tenant_id);
  if (found != open_.end() && found->second >= limits.tenant_max) {
    return FanoutAdmission::tenant_full;
  }
  return remaining_ >= limits.total_max ? FanoutAdmission::server_full : FanoutAdmission::accepted;
}

}  // namespace postrider
