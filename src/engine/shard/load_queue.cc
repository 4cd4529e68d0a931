#include "engine/shard/load_queue.h"

#include "core/base/assert.h"

namespace postrider {

void LoadQueue::enqueue(WebhookId webhook_id) {
  if (states_.emplace(webhook_id, State::queued).second) {
    queue_.push_back(webhook_id);
  }
}

std::optional<WebhookId> LoadQueue::next() {
  if (queue_.empty() || requested_count_ >= requested_max_) {
    return std::nullopt;
  }
  const WebhookId webhook_id = queue_.front();
  queue_.pop_front();
  ++requested_count_;
  states_[webhook_id] = State::requested;
  return webhook_id;
}

bool LoadQueue::finish(WebhookId webhook_id) {
  if (!is_requested(webhook_id)) {
    return false;
  }
  POSTRIDER_ASSERT(requested_count_ > 0);
  --requested_count_;
  states_.erase(webhook_id);
  return true;
}

bool LoadQueue::is_requested(WebhookId webhook_id) const {
  const auto found = states_.find(webhook_id);
  return found != states_.end() && found->second == State::requested;
}

}  // namespace postrider
