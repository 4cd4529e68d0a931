// Where the writer counts: the sums of the span under way, folded in memory while a batch is
// performed and written once per batch. A webhook's are part of its lane's row; a tenant's have a
// row of their own.
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

  /// The lane's sum for what happened at `at`; sums of another span or tenant leave for their
  /// table. Valid until the next call for this lane. The caller says LaneCache::note_change.
  [[nodiscard]] Result<DeliveryTally*> of_lane(LaneEntry& lane, std::int64_t tenant, WallTime at);

  /// The tenant's sum, to be changed. Valid until the next call.
  [[nodiscard]] Result<DeliveryTally*> of_tenant(std::int64_t tenant, WallTime at);

  /// Writes what changed, in the current transaction.
  [[nodiscard]] Result<void> write();
  /// After a rollback, what was changed never was.
  void forget();

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
  std::string packed_;  // Kept between calls for its memory.
};

}  // namespace postrider::sqlite
