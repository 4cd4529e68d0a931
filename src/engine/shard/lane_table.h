// The lanes of a shard, by webhook and by index, and which of them must be evaluated again.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/shard/lane.h"

namespace postrider {

class LaneTable {
 public:
  /// The webhook must not have a lane. Indexes are small and are reused.
  Lane& add(TenantIndex tenant, std::shared_ptr<const Webhook> webhook, MonoTime now);
  void remove(const Lane& lane);

  [[nodiscard]] Lane* find(WebhookId webhook_id);
  [[nodiscard]] const Lane* find(WebhookId webhook_id) const;
  [[nodiscard]] Lane& at(LaneIndex index);
  [[nodiscard]] std::size_t size() const { return by_webhook_.size(); }

  /// Marks a lane for evaluation.
  void touch(LaneIndex index);
  /// The lanes touched since the last call, each once, in the order in which they were touched.
  [[nodiscard]] std::vector<LaneIndex> take_touched();

 private:
  std::vector<std::unique_ptr<Lane>> lanes_;  // By index; null if free.
  std::vector<LaneIndex> free_;
  std::unordered_map<WebhookId, LaneIndex> by_webhook_;
  std::vector<bool> is_touched_;
  std::vector<LaneIndex> touched_;
};

}  // namespace postrider
