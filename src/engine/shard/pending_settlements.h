// Settlements that were submitted to the store and are not confirmed yet, and whether the store is
// down.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "engine/shard/entry.h"
#include "engine/shard/messages.h"

namespace postrider {

struct StorePauses {
  Millis min{100};
  Millis max{5'000};
};

/// Keeps a copy of every settlement until it is on disk. After a failure the store counts as down
/// until the next confirmation. Failed settlements are submitted again after a pause that doubles
/// with every failure.
class PendingSettlements {
 public:
  explicit PendingSettlements(StorePauses pauses) : pauses_(pauses), pause_(pauses.min) {}

  /// Call when the settlement is submitted. A delivery has at most one unconfirmed settlement.
  void add(const Settlement& settlement);
  void confirm(DeliveryId id, MonoTime now);
  void fail(const std::vector<LaneDelivery>& deliveries, MonoTime now);

  /// These may be stored or not; nobody waits for it any more.
  void forget(const std::vector<DeliveryId>& ids);

  /// A user revived the delivery. Changes a failed settlement so that it does not undo the revival.
  /// A settlement that is being stored cannot be changed.
  void revive(DeliveryId id, const Revival& revival);

  /// The failed settlements, once the pause is over. They count as submitted again.
  [[nodiscard]] std::vector<Settlement> take_due(MonoTime now);
  [[nodiscard]] std::optional<MonoTime> retry_at() const { return retry_at_; }

  [[nodiscard]] bool store_down() const { return store_down_; }
  [[nodiscard]] bool contains(DeliveryId id) const { return pending_.contains(id); }
  [[nodiscard]] std::size_t size() const { return pending_.size(); }

 private:
  struct Pending {
    Settlement settlement;
    bool failed = false;
  };

  StorePauses pauses_;
  Millis pause_;  // The next pause.
  bool store_down_ = false;
  std::optional<MonoTime> retry_at_;
  std::unordered_map<DeliveryId, Pending> pending_;
  std::vector<DeliveryId> failed_;  // In the order of failure.
};

}  // namespace postrider
