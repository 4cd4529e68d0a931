// The writer's statistics of the current time span, added up in memory during a batch and written
// once per batch. Those of a webhook are part of its row in `lane`; those of a tenant have their
// own row. Store thread only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/delivery_tally.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/ledger/lane_cache.h"

namespace postrider::sqlite {

class StatsAccumulator {
 public:
  [[nodiscard]] static Result<StatsAccumulator> open(Database& database);

  /// The lane's tally for the span of `at`. Moves a tally of another span or tenant into its table
  /// first. Valid until the next call for this lane. The caller calls LaneCache::mark_changed.
  [[nodiscard]] Result<DeliveryTally*> of_lane(LaneEntry& lane, std::int64_t tenant, WallTime at);

  /// The tenant's tally for the span of `at`, marked as changed. Valid until the next call.
  [[nodiscard]] Result<DeliveryTally*> of_tenant(std::int64_t tenant, WallTime at);

  /// A delivery that settled at `at` leaves its state. Nothing happens if its tally was removed.
  [[nodiscard]] Result<void> remove_settled(LaneEntry& lane, std::int64_t tenant, WallTime at,
                                            DeliveryState state);

  /// Writes the changed tallies in the current transaction.
  [[nodiscard]] Result<void> write();
  /// Call after a rollback.
  void clear_cache();

 private:
  struct TenantEntry {
    std::int64_t span = 0;
    DeliveryTally tally;
    bool changed = false;
  };

  [[nodiscard]] Result<void> move_out(const LaneEntry& lane);
  [[nodiscard]] Result<void> write_tenant(std::int64_t tenant, TenantEntry& entry);
  [[nodiscard]] std::string_view pack(const DeliveryTally& tally);

  Statement find_lane_;
  Statement put_lane_;
  Statement find_tenant_;
  Statement put_tenant_;
  std::unordered_map<std::int64_t, TenantEntry> tenants_;
  std::vector<std::int64_t> changed_;
  std::string packed_;  // A member to reuse its memory.
};

}  // namespace postrider::sqlite
