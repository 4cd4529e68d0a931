// How far an outbox is read: which transactions are finished. Pure.
//
// Every row of an outbox contains the number of its transaction (`txid`) and a number from a
// sequence (`position`). Neither order is the order of commits: a transaction can take its numbers
// early and commit late. So the reader compares snapshots, which know exactly the transactions that
// had ended when they were taken.
//
// Let F be the finished snapshot. A statement with the snapshot N reads a step: the rows that are
// visible in N and not in F. Then N becomes the finished snapshot.
//
// - Nothing is skipped. A row that a statement can see belongs to a transaction that ended before
//   the statement's snapshot N. If its transaction is visible in F as well, then it had ended when
//   F was taken, and the step that ended with F, or an earlier one, contained it. Otherwise it is
//   in this step. A transaction that is open for hours is in no snapshot until it commits; it
//   delays its own rows and no others.
// - Nothing is read twice, because a row is in the step from F to N only if it is not visible in
//   F, and from then on it is visible in the finished snapshot. A crash before the cursor is stored
//   repeats a batch; the row's id as the idempotency key removes the repetition.
// - Rolled back rows are invisible to every statement. `txid` is the number of the top-level
//   transaction, and snapshots contain no others, so savepoints make no difference. A prepared
//   transaction counts as running until it is committed.
// - Order per aggregate. Let T2 change what T1 has changed, both then writing an event. T2 had to
//   wait until T1 ended, so every snapshot that contains T2 contains T1, and the rows of T1 are in
//   the same step or an earlier one. Within a step, rows are ordered by `position`, which T2 took
//   later than T1.
//
// A step with more rows than a batch stays open. Its snapshot N is kept, so the set of its rows
// does not change, and it is read in pages by `position`.
//
// Snapshots contain the full 64-bit numbers (xid8), which do not wrap around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postrider::postgres {

/// The number of a transaction. PostgreSQL's xid8.
using Txid = std::uint64_t;

/// PostgreSQL's pg_snapshot, `xmin:xmax:xip,xip,…`.
struct Snapshot {
  Txid xmin = 1;
  Txid xmax = 1;          // All transactions from this one on are invisible,
  std::vector<Txid> xip;  // and these, which were running.

  bool operator==(const Snapshot&) const = default;
};

[[nodiscard]] std::optional<Snapshot> parse_snapshot(std::string_view text);
[[nodiscard]] std::string to_text(const Snapshot& snapshot);

/// A step of which a part is read.
struct OpenStep {
  Snapshot snapshot;
  std::int64_t after = 0;  // Rows up to this position are read.
  std::int64_t until = 0;  // The step has no row behind this position.

  bool operator==(const OpenStep&) const = default;
};

struct ReadPosition {
  Snapshot finished;
  std::optional<OpenStep> open = std::nullopt;

  bool operator==(const ReadPosition&) const = default;
};

/// Rows of one step, in the order of their positions.
struct ReadBatch {
  OpenStep step;  // As it was before this batch.
  std::vector<std::int64_t> positions;
  bool ends_step = false;
};

/// The position after the first `count` rows of the batch were settled.
[[nodiscard]] ReadPosition advance(const ReadPosition& position, const ReadBatch& batch,
                                   std::size_t count);

}  // namespace postrider::postgres
