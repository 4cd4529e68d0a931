// Tracks rows of sources that their applications read: which event a row became, and whether the
// final status has been written back to the row.
//
// Ledger::commit tracks the row of a publish (Publish::row). A repeated publish of a row that is
// under way is a Duplicate; one with a used key refers to the event that has the key. A revival, a
// late delivery, or a late success of a cancelled delivery, makes the event's rows unsettled again
// and raises their revision, in the same transaction. Retention removes rows with their event.
//
// The specification is tests/contract/source_rows_contract.cc. Calls block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/source/row_status.h"

namespace postrider {

/// An unsettled row with the current state of its event's deliveries.
struct TrackedRow {
  std::string row_id;
  EventId event_id;
  std::uint32_t generation = 0;  // See SourceRow.
  std::uint32_t revision = 0;    // Changes when a settled row becomes unsettled.
  RowFacts facts;

  bool operator==(const TrackedRow&) const = default;
};

/// A position in the unsettled rows of a source, which are in publish order.
struct RowCursor {
  std::int64_t event = 0;  // The sequence.
  std::string row_id;

  bool operator==(const RowCursor&) const = default;
};

struct TrackedRowPage {
  std::vector<TrackedRow> rows;
  std::optional<RowCursor> next;  // nullopt at the end.
};

/// One instance per reader thread.
class SourceRowReader {
 public:
  virtual ~SourceRowReader() = default;

  /// The unsettled rows of the source that became these events, in no particular order.
  [[nodiscard]] virtual Result<std::vector<TrackedRow>> rows_of(
      const std::string& source, const std::vector<EventId>& events) = 0;

  [[nodiscard]] virtual Result<TrackedRowPage> unsettled(const std::string& source,
                                                         const RowCursor& after,
                                                         std::uint32_t limit) = 0;

 protected:
  SourceRowReader() = default;
  SourceRowReader(const SourceRowReader&) = default;
  SourceRowReader& operator=(const SourceRowReader&) = default;
};

/// What was written back to a row. The first four members name the row as it was read.
struct RowWrittenBack {
  std::string row_id;
  EventId event_id;
  std::uint32_t generation = 0;
  std::uint32_t revision = 0;
  std::uint32_t generation_now = 0;
  bool settled = false;
};

/// Store thread only.
class SourceRowWriter {
 public:
  virtual ~SourceRowWriter() = default;

  /// Updates the rows that still have this event and generation. A row whose revision has changed
  /// stays unsettled. One transaction.
  [[nodiscard]] virtual Result<void> record(const std::string& source,
                                            const std::vector<RowWrittenBack>& rows) = 0;

  /// A random text that names this store for as long as it exists.
  [[nodiscard]] virtual Result<std::string> store_id() = 0;

 protected:
  SourceRowWriter() = default;
  SourceRowWriter(const SourceRowWriter&) = default;
  SourceRowWriter& operator=(const SourceRowWriter&) = default;
};

}  // namespace postrider
