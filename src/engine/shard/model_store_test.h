// For tests of the engine: a store that is a few maps.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/model/delivery.h"
#include "engine/shard/shard.h"

namespace postrider::test {

/// What the promises of a Ledger amount to: answers come in the order in which the store did the
/// work.
class ModelStore {
 public:
  std::map<DeliveryId, Delivery> rows;
  std::set<std::pair<DeliveryId, std::uint32_t>> attempts;
  bool broken = false;

  void settle(const Settlement& settlement);
  [[nodiscard]] LaneLoaded load(const LoadLane& query) const;
};

}  // namespace postrider::test
