// Which lanes wait for a page from the store. A bound on the pages asked for at once keeps a start
// with ten thousand backlogs from filling the store's queue, in which fresh publishes wait too
// (P5).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "core/base/ids.h"

namespace postrider {

class LoadQueue {
 public:
  explicit LoadQueue(std::uint32_t asked_max) : asked_max_(asked_max) {}

  /// Changes nothing when the lane is in the queue or has asked already.
  void want(WebhookId webhook_id);

  /// The lane that may ask now; it counts as having asked. First come, first served.
  [[nodiscard]] std::optional<WebhookId> next();

  /// The lane's answer came, or it did not ask after all. False when it had not asked.
  bool answered(WebhookId webhook_id);

  [[nodiscard]] bool asked(WebhookId webhook_id) const;

 private:
  enum class Stage : std::uint8_t { queued, asked };

  std::uint32_t asked_max_;
  std::uint32_t asked_count_ = 0;
  std::deque<WebhookId> queue_;
  std::unordered_map<WebhookId, Stage> stages_;
};

}  // namespace postrider
