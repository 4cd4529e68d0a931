// The SQL that reads an outbox in the mode `cursor`. Pure text; see read_position.h for what a step
// is.
//
// The planner's choice of a plan must not depend on statistics, which a table that is filled and
// emptied all day never has. So each text is written for one plan, and the alternatives are
// switched off for its transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "adapters/postgres/outbox_table.h"
#include "adapters/postgres/read_position.h"

namespace postrider::postgres {

/// How long a node owns the outbox without renewing its lease.
constexpr int lease_seconds = 10;

/// Columns of the answers to `next_step` and `next_page`, before the columns of the message. There
/// is always at least one row; without a position if there is no row to read.
enum ReadColumn : int {
  read_snapshot,
  read_epoch,
  read_lease_left_ms,
  read_now_ms,
  read_total,  // Rows that were found. More than those that follow if they are too large or many.
  read_until,  // The last position of those that were found.
  read_position,
  read_txid,
  read_first_column,
};

/// Reads the next step if it has at most `rows_max` rows. Finds one more than that, and returns
/// none, if it has more.
[[nodiscard]] std::string next_step(const OutboxTable& table, const Snapshot& finished,
                                    std::size_t rows_max);

/// Columns of the answer to `step_bounds`.
enum BoundsColumn : int { bounds_snapshot, bounds_first, bounds_last, bounds_is_foreign };

/// The first and last position of a step that starts now, or smaller and larger ones if it has
/// very many rows.
[[nodiscard]] std::string step_bounds(const OutboxTable& table, const Snapshot& finished);

/// Reads the next rows of the open step, up to the position `end`.
[[nodiscard]] std::string next_page(const OutboxTable& table, const ReadPosition& position,
                                    std::int64_t end, std::size_t rows_max);

/// Columns of the answer to `count_unread`.
enum LagColumn : int { lag_rows, lag_span, lag_oldest_age_ms };

/// Counts the rows that are not visible in `finished`, at most `lag_rows_max` and one more. Then
/// `lag_span` says how many positions they may span.
constexpr std::int64_t lag_rows_max = 10'000;
[[nodiscard]] std::string count_unread(const OutboxTable& table, const Snapshot& finished);

/// The age of the first row behind a position, in milliseconds. No row if there is none.
[[nodiscard]] std::string age_behind(const OutboxTable& table, std::int64_t position);

/// Moves the cursor and renews the lease: $1 finished, $2 open, $3 open_after, $4 open_until, $5
/// epoch. With `keeps_rejected` it also keeps rows aside: $6 positions, $7 reasons. Returns one row
/// with the number of cursors that moved: 0 if the lease is lost.
[[nodiscard]] std::string move_cursor(const OutboxTable& table, bool keeps_rejected);

/// Columns of the answer to `take_lease`.
enum LeaseColumn : int {
  lease_epoch,
  lease_finished,
  lease_open,
  lease_open_after,
  lease_open_until,
  lease_is_foreign,  // The cursor was written in another database cluster.
  lease_snapshot,
};

/// Takes the lease for the node $1 and the source $2. No row if another node has it.
[[nodiscard]] std::string take_lease(const OutboxTable& table);
/// Extends the lease of the epoch $1. Changes no row if it is lost.
[[nodiscard]] std::string renew_lease(const OutboxTable& table);
[[nodiscard]] std::string release_lease(const OutboxTable& table);

/// Columns of the answer to `bucket_state`: the rows of bucket n are in `space_rows + n`, about.
enum SpaceColumn : int { space_current, space_age_s, space_rows };
[[nodiscard]] std::string bucket_state(const OutboxTable& table);
[[nodiscard]] std::string use_bucket(const OutboxTable& table, int bucket);
/// Empties a bucket if all its rows are visible in `finished`. Gives up with SQLSTATE 55P03 if a
/// transaction uses the bucket.
[[nodiscard]] std::string empty_bucket(const OutboxTable& table, int bucket,
                                       const Snapshot& finished);

}  // namespace postrider::postgres
