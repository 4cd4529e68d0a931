// How the tables of this store become those of a copy (ports/store_copy.h).
//
// Most tables have the same names and columns in both. The others:
//
// - tenant, event_type: each row of the copy contains the name instead of its number.
// - delivery: goes to `waiting` or, in a final state, to `delivery`. It has the ids of its event
//   and webhook, and its shard, instead of row numbers.
// - delivery.previous, straggler: not copied. An index replaces these chains.
// - delivery.ordered, lane.ordered: not copied. The server builds the order index when it needs it.
// - lane: the statistics of the current span and the times of the last results become rows of
//   webhook_stats.
// - attempt: `recorded` replaces the chain (attempt_order.h).
// - claim: claims of removed events are void and are not copied.
// - fanout, source_row: also have the id of the event.
// - webhook_stats, tenant_stats: get a writer id that no server uses.
// - removed: becomes CopyOrigin::last_number, after which sequences continue.
// - store_state: becomes CopyOrigin, because it describes the files of this store.
//
// Sequences and the numbers of request shapes and lists are kept, so what refers to them stays
// valid. Sealed values are kept as they are.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace postrider::sqlite {

/// One SELECT of rows, as a table `v`, with the columns of the copy and perhaps others.
struct CopiedPart {
  std::string_view from;   // What follows FROM.
  std::string_view order;  // Columns of `v` that identify a row.
};

struct CopiedRows {
  std::string_view table;  // The copy's table.
  std::string_view count;  // SQL that counts the rows. Empty: all rows of this table.
  std::vector<CopiedPart> parts;
};

/// Null for the table attempt, which has a reader of its own.
[[nodiscard]] const CopiedRows* find_copied_rows(std::string_view table);

/// The tables of SQLite without a table of the same name in a copy. See above.
[[nodiscard]] std::span<const std::string_view> tables_without_copy();

}  // namespace postrider::sqlite
