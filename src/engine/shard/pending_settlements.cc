#include "engine/shard/pending_settlements.h"

#include <algorithm>

#include "core/base/assert.h"
#include "engine/shard/attempt_settlement.h"

namespace postrider {

void PendingSettlements::add(const Settlement& settlement) {
  const bool added =
      pending_.emplace(settlement.delivery.id, Pending{.settlement = settlement}).second;
  POSTRIDER_ASSERT(added);
}

void PendingSettlements::confirm(DeliveryId id, MonoTime now) {
  pending_.erase(id);
  store_down_ = false;
  pause_ = pauses_.min;
  // The store works again: submit the other failed settlements at once.
  retry_at_ = failed_.empty() ? std::nullopt : std::optional{now};
}

void PendingSettlements::fail(const std::vector<LaneDelivery>& deliveries, MonoTime now) {
  for (const LaneDelivery& delivery : deliveries) {
    const auto found = pending_.find(delivery.delivery_id);
    if (found != pending_.end() && !found->second.failed) {
      found->second.failed = true;
      failed_.push_back(delivery.delivery_id);
    }
  }
  store_down_ = true;
  if (!retry_at_) {
    retry_at_ = now + pause_;
    pause_ = std::min(pause_ * 2, pauses_.max);
  }
}

void PendingSettlements::forget(const std::vector<DeliveryId>& ids) {
  for (const DeliveryId id : ids) {
    pending_.erase(id);
  }
  std::erase_if(failed_, [this](DeliveryId id) { return !pending_.contains(id); });
}

void PendingSettlements::revive(DeliveryId id, const Revival& revival) {
  const auto found = pending_.find(id);
  if (found != pending_.end() && found->second.failed) {
    postrider::revive(found->second.settlement, revival);
  }
}

std::vector<Settlement> PendingSettlements::take_due(MonoTime now) {
  std::vector<Settlement> due;
  if (!retry_at_ || *retry_at_ > now) {
    return due;
  }
  retry_at_.reset();
  due.reserve(failed_.size());
  for (const DeliveryId id : failed_) {
    const auto found = pending_.find(id);
    if (found != pending_.end() && found->second.failed) {
      found->second.failed = false;
      due.push_back(found->second.settlement);
    }
  }
  failed_.clear();
  if (pending_.empty()) {
    store_down_ = false;  // No confirmation will come, so assume that the store works again.
  }
  return due;
}

}  // namespace postrider
