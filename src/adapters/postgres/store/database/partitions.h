// The monthly partitions of the tables event, delivery and attempt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// The tables that are partitioned by month.
inline constexpr std::string_view partitioned_tables[] = {"event", "delivery", "attempt"};

/// A month of UTC. Ids made in it are at least `first_id` and less than `end_id`.
struct Month {
  int year = 1970;
  unsigned month = 1;  // 1 to 12.

  [[nodiscard]] static Month of(WallTime time);
  [[nodiscard]] Month next() const;
  [[nodiscard]] WallTime begin() const;
  [[nodiscard]] WallTime end() const { return next().begin(); }
  [[nodiscard]] Uuid first_id() const;
  [[nodiscard]] Uuid end_id() const { return next().first_id(); }
  /// `2026_01`, the end of its partitions' names: `event_2026_01`.
  [[nodiscard]] std::string name() const;

  bool operator==(const Month&) const = default;
};

/// Makes the partitions of the month of `now` and of the months after it, where they are missing. A
/// month is left out if the default partition already holds rows of it. Waits for no lock longer
/// than a second. Call outside of a transaction.
[[nodiscard]] Result<void> ensure_partitions(Session& session, WallTime now);

}  // namespace postrider::postgres
