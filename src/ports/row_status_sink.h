// Writes the status of rows back to the table of an application.
//
// Owned by one thread, which makes all calls except `interrupt`. Calls block for a bounded time.
// Errors: unavailable, with a sentence for the operator. The caller then calls `connect` again.
// `begin` can also fail with conflict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/source/row_status.h"

namespace postrider {

struct RowWrite {
  std::string row_id;
  std::uint32_t generation = 0;  // See SourceRow.
  RowStatus status;
};

enum class RowWriteOutcome : std::uint8_t {
  /// The row has this status, or keeps one that its application has set meanwhile. If the status is
  /// final, the row's generation is one higher now, and it can be armed again.
  written,
  /// An earlier final write, whose answer was lost, has ended this generation. Nothing was written.
  ahead,
  /// The application has armed the row again, and it will be received again. Nothing was written.
  armed,
  /// The row belongs to another node or to a later publish. Nothing was written.
  superseded,
  missing,  // The application has deleted the row.
  locked,   // By another transaction. Write it again later.
};

class RowStatusSink {
 public:
  virtual ~RowStatusSink() = default;

  virtual Result<void> connect() = 0;

  /// Waits until no other server of this store is between `begin` and the end of its `write`, and
  /// keeps all others out until the next `write` or `end`. A server that calls neither for some
  /// seconds loses its connection. Fails with conflict if the others take long: call it again.
  virtual Result<void> begin() = 0;
  /// Instead of `write`, if there is nothing to be written.
  virtual Result<void> end() = 0;

  /// Writes all rows in one transaction. The outcomes are in the order of the rows. Needs no
  /// `begin` if no other server uses the store.
  virtual Result<std::vector<RowWriteOutcome>> write(const std::vector<RowWrite>& rows) = 0;

  /// Removes at most `limit` rows that were delivered longer ago than `age`. Returns the number.
  virtual Result<std::uint64_t> remove_delivered(Millis age, std::uint32_t limit) = 0;

  /// Bounds the time of the current call and those that follow. Any thread.
  virtual void interrupt() = 0;

 protected:
  RowStatusSink() = default;
  RowStatusSink(const RowStatusSink&) = default;
  RowStatusSink& operator=(const RowStatusSink&) = default;
};

}  // namespace postrider
