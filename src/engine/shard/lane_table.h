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
  /// Null if the lane was removed.
  [[nodiscard]] const Lane* at_or_null(LaneIndex index) const { return lanes_[index].get(); }
  [[nodiscard]] std::size_t size() const { return by_webhook_.size(); }

  /// Calls `act(lane)` for every lane, in the order of the indexes.
  template <class Act>
  void for_each(Act act) {
    for (const std::unique_ptr<Lane>& lane : lanes_) {
      if (lane) {
        act(*lane);
      }
    }
  }

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
