// What the writer knows of each webhook's lane: its number, and where its chains of deliveries and
// attempts end. Changed in memory while a batch is performed, written once per lane at its end.
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
#include "engine/shard/shard.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

struct LaneEntry {
  std::int64_t lane = 0;
  std::optional<std::int64_t> tenant;  // Of all its deliveries; none when they differ.
  bool ordered = false;
  std::int64_t last_delivery = 0;
  std::int64_t last_attempt_delivery = 0;
  std::uint32_t last_attempt_number = 0;
  std::optional<WallTime> last_success_at;
  std::optional<WallTime> last_failure_at;
  std::int64_t tally_span = 0;  // What `tally` counts: see StatsAccumulator.
  std::int64_t tally_tenant = 0;
  DeliveryTally tally;
  RequestShapeRef shape = nullptr;  // The latest that was stored or found: see RequestShapeCache.
  std::uint32_t shape_number = 0;   // What attempts call it,
  std::int64_t shape_named_below = 0;  // of deliveries below this sequence.
  bool changed = false;                // Since it was last written: the book's own mark.
};

class LaneCache {
 public:
  [[nodiscard]] static Result<LaneCache> open(Database& database);

  /// Null when the webhook was never sent anything. Valid until the transaction ends.
  [[nodiscard]] Result<LaneEntry*> find(WebhookId id);
  /// Makes an entry when there is none, for a delivery of `tenant`.
  [[nodiscard]] Result<LaneEntry*> find_or_add(WebhookId id, std::int64_t tenant);

  /// To be said of every entry that the caller changes.
  void note_change(LaneEntry& entry);

  /// Writes what changed, in the current transaction.
  [[nodiscard]] Result<void> write();
  /// After a rollback, what was changed never was.
  void forget();

 private:
  Statement find_;
  Statement insert_;
  Statement update_;
  std::unordered_map<WebhookId, LaneEntry> entries_;
  std::vector<LaneEntry*> changed_;
  std::string packed_;  // Kept between calls for its memory.
};

}  // namespace postrider::sqlite
