// The lanes that need a page from the store. Limits the concurrent loads, so that a start with ten
// thousand backlogs does not fill the store's queue, which publishes share (P5).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "core/base/ids.h"

namespace postrider {

class LoadQueue {
 public:
  explicit LoadQueue(std::uint32_t requested_max) : requested_max_(requested_max) {}

  /// Has no effect if the lane is queued or its load is in progress.
  void enqueue(WebhookId webhook_id);

  /// The lane that may load now, in FIFO order; its load counts as in progress. Returns nullopt if
  /// the queue is empty or the limit is reached.
  [[nodiscard]] std::optional<WebhookId> next();

  /// The load has ended or was not needed after all. Returns false if none was in progress.
  bool finish(WebhookId webhook_id);

  [[nodiscard]] bool is_requested(WebhookId webhook_id) const;

 private:
  enum class State : std::uint8_t { queued, requested };

  std::uint32_t requested_max_;
  std::uint32_t requested_count_ = 0;
  std::deque<WebhookId> queue_;
  std::unordered_map<WebhookId, State> states_;
};

}  // namespace postrider
