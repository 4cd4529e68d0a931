// The writer's cache of the table `lane`: each webhook's lane number and the ends of its chains of
// deliveries and attempts. A batch changes entries in memory; each is written once, before the
// commit. Store thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/delivery_tally.h"
#include "engine/shard/messages.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

struct LaneEntry {
  std::int64_t lane = 0;
  std::optional<std::int64_t> tenant;  // Of all its deliveries; nullopt if they differ.
  bool ordered = false;                // Its waiting deliveries are in the order index.
  std::int64_t last_delivery = 0;
  std::int64_t last_attempt_delivery = 0;
  std::uint32_t last_attempt_number = 0;
  std::optional<WallTime> last_success_at;
  std::optional<WallTime> last_failure_at;
  std::int64_t tally_span = 0;  // The span and tenant of `tally`: see StatsAccumulator.
  std::int64_t tally_tenant = 0;
  DeliveryTally tally;
  RequestShapeRef shape = nullptr;  // The last one stored or found: see RequestShapeCache.
  std::uint32_t shape_number = 0;
  std::int64_t shape_named_below = 0;  // Deliveries below this sequence may use shape_number.
  bool changed = false;                // Since it was last written. Used by LaneCache only.
};

class LaneCache {
 public:
  [[nodiscard]] static Result<LaneCache> open(Database& database);

  /// Null if the webhook never had a delivery. Valid until the transaction ends.
  [[nodiscard]] Result<LaneEntry*> find(WebhookId id);
  /// Adds a missing entry, for a delivery of `tenant`.
  [[nodiscard]] Result<LaneEntry*> find_or_add(WebhookId id, std::int64_t tenant);

  /// Call for every entry that you change.
  void mark_changed(LaneEntry& entry);

  /// Writes the changed entries in the current transaction.
  [[nodiscard]] Result<void> write();
  /// Call after a rollback.
  void clear_cache();

 private:
  Statement find_;
  Statement insert_;
  Statement update_;
  std::unordered_map<WebhookId, LaneEntry> entries_;
  std::vector<LaneEntry*> changed_;
  std::string packed_;  // A member to reuse its memory.
};

}  // namespace postrider::sqlite
