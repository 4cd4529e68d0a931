#include "engine/shard/load_queue.h"

#include "core/base/assert.h"

namespace postrider {

void LoadQueue::want(WebhookId webhook_id) {
  if (stages_.emplace(webhook_id, Stage::queued).second) {
    queue_.push_back(webhook_id);
  }
}

std::optional<WebhookId> LoadQueue::next() {
  if (queue_.empty() || asked_count_ >= asked_max_) {
    return std::nullopt;
  }
  const WebhookId webhook_id = queue_.front();
  queue_.pop_front();
  ++asked_count_;
  stages_[webhook_id] = Stage::asked;
  return webhook_id;
}

bool LoadQueue::answered(WebhookId webhook_id) {
  if (!asked(webhook_id)) {
    return false;
  }
  POSTRIDER_ASSERT(asked_count_ > 0);
  --asked_count_;
  stages_.erase(webhook_id);
  return true;
}

bool LoadQueue::asked(WebhookId webhook_id) const {
  const auto found = stages_.find(webhook_id);
  return found != stages_.end() && found->second == Stage::asked;
}

}  // namespace postrider
