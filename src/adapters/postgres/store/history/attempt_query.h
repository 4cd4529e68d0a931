// Builds the SQL that lists attempts. A scan reads the rows of one index in order and ends after a
// number of rows, as in delivery_query.h.
//
// AttemptPosition::delivery is the attempt's number in the order of recording (`recorded`), which
// is unique.
#pragma once

#include <cstdint>
#include <optional>

#include "core/filter/event_type_filter.h"
#include "core/model/attempt_list.h"

#include "adapters/postgres/store/history/built_query.h"
#include "adapters/postgres/store/history/record_rows.h"

namespace postrider::postgres {

/// The index that a scan reads, and the order of its rows.
enum class AttemptsAlong : std::uint8_t {
  time,      // By executed_at.
  webhook,   // In the order of recording.
  delivery,  // By executed_at. No limit, because a delivery has few attempts.
};

struct AttemptScan {
  const AttemptFilter* filter;  // Must outlive the scan.
  AttemptsAlong along = AttemptsAlong::time;
  EventTypeFilter types;
  std::optional<AttemptPosition> before = std::nullopt;
  std::uint32_t scanned_max = scanned_default;  // At least 1.
};

[[nodiscard]] AttemptScan plan_attempts(const AttemptFilter& filter, const AttemptPage& page);
/// False if no row can match.
[[nodiscard]] bool can_match(const AttemptScan& scan);

// The columns of an attempt (record_rows.h), followed by these.
enum ListedAttemptColumn : int {
  recorded_column = attempt_column_count,
  delivery_id_column,
  webhook_id_column,
  tenant_id_column,
  event_id_column,
  event_type_column,
};

/// In the order of the scan, at most one more than the page's limit.
[[nodiscard]] BuiltQuery select_attempts(const AttemptScan& scan, const AttemptPage& page);
/// The positions (executed_at, recorded, number) of the last row of the scan and of the row after
/// it. Fewer than two rows: the scan has reached the end.
[[nodiscard]] BuiltQuery select_scan_end(const AttemptScan& scan);

}  // namespace postrider::postgres
