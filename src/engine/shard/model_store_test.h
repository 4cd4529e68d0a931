// For tests: a minimal in-memory store.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/model/delivery.h"
#include "engine/shard/messages.h"

namespace postrider::test {

/// Behaves as the contract of Ledger says. Answers come in the order of the commits.
class ModelStore {
 public:
  std::map<DeliveryId, Delivery> rows;
  std::set<std::pair<DeliveryId, std::uint32_t>> attempts;
  bool broken = false;

  void settle(const Settlement& settlement);
  [[nodiscard]] LaneLoaded load(const LoadLane& query) const;
};

}  // namespace postrider::test
