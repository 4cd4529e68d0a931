#include "engine/shard/lane_table.h"

#include <utility>

#include "core/base/assert.h"

namespace postrider {

Lane& LaneTable::add(TenantIndex tenant, std::shared_ptr<const Webhook> webhook, MonoTime now) {
  LaneIndex index = static_cast<LaneIndex>(lanes_.size());
  if (free_.empty()) {
    lanes_.emplace_back();
    is_touched_.push_back(false);
  } else {
    index = free_.back();
    free_.pop_back();
  }
  const bool is_new = by_webhook_.emplace(webhook->id, index).second;
  POSTRIDER_ASSERT(is_new);
  lanes_[index] = std::make_unique<Lane>(index, tenant, std::move(webhook), now);
  return *lanes_[index];
}

void LaneTable::remove(const Lane& lane) {
  const LaneIndex index = lane.index();
  POSTRIDER_ASSERT(!is_touched_[index]);
  by_webhook_.erase(lane.webhook().id);
  lanes_[index].reset();
  free_.push_back(index);
}

Lane* LaneTable::find(WebhookId webhook_id) {
  const auto found = by_webhook_.find(webhook_id);
  return found == by_webhook_.end() ? nullptr : lanes_[found->second].get();
}

const Lane* LaneTable::find(WebhookId webhook_id) const {
  const auto found = by_webhook_.find(webhook_id);
  return found == by_webhook_.end() ? nullptr : lanes_[found->second].get();
}

Lane& LaneTable::at(LaneIndex index) {
  POSTRIDER_ASSERT(index < lanes_.size() && lanes_[index]);
  return *lanes_[index];
}

void LaneTable::touch(LaneIndex index) {
  if (!is_touched_[index]) {
    is_touched_[index] = true;
    touched_.push_back(index);
  }
}

std::vector<LaneIndex> LaneTable::take_touched() {
  for (const LaneIndex index : touched_) {
    is_touched_[index] = false;
  }
  return std::exchange(touched_, {});
}

}  // namespace postrider
