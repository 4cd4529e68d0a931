// Drops whole partitions: months in which every event has expired, and months without rows. The
// time of a drop does not depend on the number of rows, and the space is free at once.
//
// A drop locks the three partitioned tables. It gives up after a short wait, so other transactions
// wait only briefly behind it. Store thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/retention.h"

#include "adapters/postgres/store/database/partitions.h"
#include "adapters/postgres/store/database/writer.h"

namespace postrider::postgres {

/// The month whose partitions have a name that ends in `name`, such as `2026_01`.
[[nodiscard]] std::optional<Month> parse_month(std::string_view name);

struct DropLimits {
  /// While a drop waits for a table, everything that comes after it waits too.
  Millis lock_max{100};
  /// Bounds the search of an index whose entries are mostly those of removed rows.
  Millis search_max{500};
  /// An autovacuum of the partition ends when another session has waited for a second. Nothing else
  /// waits behind this lock.
  Millis vacuum_max{1'500};
  /// A partition of at least `large_bytes` with at most `rows_moved_max` rows is dropped, and its
  /// rows move to the default partition. Otherwise few rows would keep the space of all removed
  /// ones.
  std::int64_t large_bytes = 64 << 20;
  std::int64_t rows_moved_max = 1'000;
};

/// Removes the oldest month in which every event has expired, with all that depends on it. Skips a
/// month with a waiting delivery, a dead letter or idempotency key that has not expired, or
/// deliveries shared with another month. Returns nullopt if there is no such month or it is in use.
/// Counts dead letters exactly; the other counts are PostgreSQL's estimates.
[[nodiscard]] Result<std::optional<Removed>> remove_expired_month(Writer& writer,
                                                                  const RetentionCutoffs& cutoffs,
                                                                  const DropLimits& limits = {});

/// Drops one partition of a past month that is empty, or large with few rows. Returns false if
/// there is none; otherwise call again.
[[nodiscard]] Result<bool> drop_unused_partition(Writer& writer, const DropLimits& limits = {});

}  // namespace postrider::postgres
