// Writes the status of one source's rows back to its table, on a thread of its own.
//
// Level-triggered: what is written is the current state of the row's event, and a row stays
// unsettled in the store until its final status is known to be in the table. A crash or an outage
// at any point therefore only delays the status.
//
// Servers that share a store write all rows alike: each what it has changed, and from time to time
// everything that is unsettled. One at a time reads the state and writes it, so that none writes an
// older state than the one before.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/clock.h"
#include "ports/metric_sample.h"
#include "ports/row_status_sink.h"
#include "ports/source_rows.h"

#include "runtime/sources/row_changes.h"

namespace postrider {

/// The store as a thread of the runtime sees it. Calls block. Any thread.
class TrackedRows {
 public:
  virtual ~TrackedRows() = default;

  // As in ports/source_rows.h.
  [[nodiscard]] virtual Result<std::vector<TrackedRow>> rows_of(
      const std::string& source, const std::vector<EventId>& events) = 0;
  [[nodiscard]] virtual Result<TrackedRowPage> unsettled(const std::string& source,
                                                         const RowCursor& after,
                                                         std::uint32_t limit) = 0;
  [[nodiscard]] virtual Result<void> record(const std::string& source,
                                            const std::vector<RowWrittenBack>& rows) = 0;

 protected:
  TrackedRows() = default;
  TrackedRows(const TrackedRows&) = default;
  TrackedRows& operator=(const TrackedRows&) = default;
};

/// What the store must remember after a write. nullopt: nothing has changed.
[[nodiscard]] std::optional<RowWrittenBack> written_back(const TrackedRow& row, RowState state,
                                                         RowWriteOutcome outcome);

struct WriteBackCounts {
  std::uint64_t written = 0;
  std::uint64_t missing = 0;     // Rows that the application has deleted while they were under way.
  std::uint64_t superseded = 0;  // Rows that belong to another node or a later publish.
  std::uint64_t failures = 0;    // Of the connection or a write.
  std::uint64_t removed = 0;     // Delivered rows that were cleaned up.

  bool operator==(const WriteBackCounts&) const = default;
};

class StatusWriteBack {
 public:
  struct Options {
    std::string source;
    Millis keep_delivered{0};  // Zero: delivered rows are never removed.
    std::uint64_t seed = 0;
    bool is_shared = false;  // Other servers write the status of these rows too.
  };
  /// All must outlive this object.
  struct Parts {
    RowChanges* changes = nullptr;
    TrackedRows* rows = nullptr;
    const Clock* clock = nullptr;
  };

  StatusWriteBack(Options options, std::unique_ptr<RowStatusSink> sink, Parts parts);
  ~StatusWriteBack();
  StatusWriteBack(const StatusWriteBack&) = delete;
  StatusWriteBack& operator=(const StatusWriteBack&) = delete;

  void start();
  /// Writes what is known to have changed, if that can be done soon, and ends the thread. Call
  /// after RowChanges::stop.
  void stop();

  /// Any thread.
  [[nodiscard]] WriteBackCounts counts() const;
  [[nodiscard]] std::vector<MetricSample> samples() const;

  /// One round of the thread's loop: connects if necessary, then waits for changes and writes them.
  /// Returns how long to wait before the next. For the thread, and for tests without one.
  [[nodiscard]] Millis step(Millis wait_max);

 private:
  void run();
  void wait(Millis delay);
  [[nodiscard]] Millis failed(const Error& error);
  [[nodiscard]] bool is_stopping() const;
  [[nodiscard]] bool is_examination_due() const;
  [[nodiscard]] Result<void> handle(const RowChanges::Taken& taken);
  [[nodiscard]] Result<void> write_changes(const std::vector<EventId>& events);
  [[nodiscard]] Result<void> write_events(const std::vector<EventId>& events);
  /// False if there is more to be examined.
  [[nodiscard]] Result<bool> examine();
  [[nodiscard]] Result<void> write(std::vector<TrackedRow> rows);
  /// All of the rows have news, and no other server writes.
  [[nodiscard]] Result<void> write_current(const std::vector<TrackedRow>& rows);
  void count(const std::vector<RowWriteOutcome>& outcomes);
  [[nodiscard]] Result<void> clean_up();

  Options options_;
  std::unique_ptr<RowStatusSink> sink_;
  Parts parts_;
  // Thread only.
  SplitMix64 random_;
  std::vector<EventId> later_;  // Their rows could not be written, although the table can be.
  bool is_connected_ = false;
  std::uint32_t failures_ = 0;  // In a row.
  std::optional<MonoTime> cleaned_at_;
  MonoTime examine_at_ = MonoTime::max();  // Only if `is_shared`.

  mutable std::mutex mutex_;  // Guards the two below.
  std::condition_variable woken_;
  WriteBackCounts counts_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace postrider
