// The table of an outbox in status mode, and the statements on it.
//
// Times are those of the database. The columns that Postrider adds:
// - postrider_node: the node that has claimed the row, or had it last.
// - postrider_claimed_until: until then no other node claims the row.
// - postrider_handed_over_at: the row is an event in the node's store. Null again when it is final.
// - postrider_generation: how often a final status has been written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

#include "adapters/postgres/connection.h"
#include "adapters/postgres/outbox_table.h"

namespace postrider::postgres {

struct StatusTable {
  TableName name;
  std::string id_type;
  std::string status_type;
  std::vector<OutboxColumn> columns;  // Those that are part of the message.
  bool has_url = false;               // The column webhook_url.
  bool has_secret = false;
  bool is_utf8 = true;
};

/// Fails with unavailable, with a sentence that says what to do.
[[nodiscard]] Result<StatusTable> inspect_status_outbox(Connection& connection,
                                                        const TableName& name);

/// A node that has lost its connection is not overtaken before this time: long enough for a
/// restart. While it is connected, its locks keep others away.
constexpr Millis claim_lease{300'000};

/// Claims rows that are due for `node`, then begins a transaction that locks and returns them.
[[nodiscard]] std::string claim_rows(const StatusTable& table, const std::string& node,
                                     std::size_t rows_max);
// The columns of its rows. Those of StatusTable::columns follow.
constexpr int claim_id = 0;
constexpr int claim_generation = 1;
constexpr int claim_url = 2;
constexpr int claim_secret = 3;
constexpr int claim_first_column = 4;

/// What becomes of the rows of a claim.
struct ClaimOutcome {
  std::vector<std::string> handed_over;
  std::vector<std::string> rejected;
  std::vector<std::string> reasons;  // Of the rejected ones.
};
/// Writes the outcome and ends the transaction of the claim.
[[nodiscard]] std::string end_claim(const StatusTable& table, const ClaimOutcome& outcome);

/// The number of rows that are due and not received, and the age in milliseconds of the oldest.
[[nodiscard]] std::string count_due(const StatusTable& table, const std::string& node);
constexpr std::int64_t due_rows_max = 100'000;

/// Parameters: the node, then arrays of ids, generations, states, attempts, errors, due times and
/// delivery times; empty: null. Returns a number and an outcome per row: the name of a
/// RowWriteOutcome, or `repeated` if an earlier write, whose answer was lost, has written the same.
[[nodiscard]] std::string write_statuses(const StatusTable& table);

/// Parameters: the age in milliseconds, the number of rows.
[[nodiscard]] std::string remove_delivered_rows(const StatusTable& table);

}  // namespace postrider::postgres
