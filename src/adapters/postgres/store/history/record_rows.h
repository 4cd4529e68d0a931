// Reads records of deliveries, and attempts, from the rows of statements.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/model/attempt.h"
#include "core/model/delivery_record.h"

#include "adapters/postgres/store/database/rows.h"
#include "adapters/postgres/store/ledger/rows.h"

namespace postrider::postgres {

// The tables `waiting` and `delivery` as `d`. Both have the same columns in the same order, so that
// they can be read as one list.
inline constexpr std::string_view waiting_columns = POSTRIDER_DELIVERY_COLUMNS
    ", d.tenant_id, d.created_at, d.updated_at, NULL::bigint AS completed_at, d.last_failure,"
    " d.last_http_status, NULL::smallint AS dead_classification, NULL::text AS dead_reason";
inline constexpr std::string_view final_columns = POSTRIDER_DELIVERY_COLUMNS
    ", d.tenant_id, d.created_at, d.updated_at, d.completed_at, d.last_failure,"
    " d.last_http_status, d.dead_classification, d.dead_reason";

/// The latest attempt of a delivery as `z`: the last columns of a record.
inline constexpr std::string_view last_attempt_columns = "z.executed_at, z.duration_us, z.detail";

/// The table `attempt` as `a`.
inline constexpr std::string_view attempt_columns =
    "a.id, a.number, a.trigger, a.scheduled_at, a.executed_at, a.duration_us, a.next_retry_at,"
    " a.failure_category, a.http_status, a.detail";
inline constexpr int attempt_column_count = 10;

/// Read the columns above; `first` is the index of the first one. Fail with corrupt.
[[nodiscard]] Result<DeliveryRecord> read_record(const Rows& rows, int row, int first = 0);
[[nodiscard]] Result<Attempt> read_attempt(const Rows& rows, int row, int first = 0);

}  // namespace postrider::postgres
