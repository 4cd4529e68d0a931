// What the store has been asked to write and has not confirmed, and whether it can write at all.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "engine/shard/entry.h"
#include "engine/shard/shard.h"

namespace postrider {

struct StorePauses {
  Millis min{100};
  Millis max{5'000};
};

/// Keeps a copy of every settlement until it is on disk. After a failure the store counts as down:
/// the failed settlements are asked for again after a pause that doubles with every failure; the
/// first confirmation ends it.
class PendingSettlements {
 public:
  explicit PendingSettlements(StorePauses pauses) : pauses_(pauses), pause_(pauses.min) {}

  /// The store is being asked for this one. A delivery has at most one unconfirmed settlement.
  void add(const Settlement& settlement);
  void confirm(DeliveryId id, MonoTime now);
  void fail(const std::vector<LaneDelivery>& deliveries, MonoTime now);

  /// A person revived the delivery. A settlement that is to be asked for again must not undo that;
  /// one that is on its way to the store cannot be called back.
  void revive(DeliveryId id, const Revival& revival);

  /// Those to ask for again, once the pause is over. They count as asked for.
  [[nodiscard]] std::vector<Settlement> take_due(MonoTime now);
  [[nodiscard]] std::optional<MonoTime> retry_at() const { return retry_at_; }

  [[nodiscard]] bool store_down() const { return store_down_; }
  [[nodiscard]] bool contains(DeliveryId id) const { return owed_.contains(id); }
  [[nodiscard]] std::size_t size() const { return owed_.size(); }

 private:
  struct Owed {
    Settlement settlement;
    bool failed = false;
  };

  StorePauses pauses_;
  Millis pause_;  // The next one.
  bool store_down_ = false;
  std::optional<MonoTime> retry_at_;
  std::unordered_map<DeliveryId, Owed> owed_;
  std::vector<DeliveryId> failed_;  // In the order in which they failed.
};

}  // namespace postrider
