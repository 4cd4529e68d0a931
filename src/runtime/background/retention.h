// Removes expired events and dead letters, the history of webhooks that were removed long ago, old
// statistics and ended operations: finds them through
// a reader, archives them if there is an archive, and only then removes them on the store thread.
// Works in small transactions with pauses, so that deliveries do not wait for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/policy/retention.h"
#include "ports/archive.h"
#include "ports/clock.h"
#include "ports/retention.h"

#include "runtime/cluster/leader_flag.h"
#include "runtime/observability/metrics.h"
#include "runtime/store/reader_pool.h"
#include "runtime/store/store_thread.h"

namespace postrider {

struct RetentionOptions {
  RetentionAges ages;
  Millis stats = std::chrono::hours{24 * 90};       // Statistics. Zero: kept for good.
  Millis operations = std::chrono::hours{24 * 30};  // Since their end. Zero: kept for good.
  std::uint32_t turn_max = 200;    // Events per transaction: about ten milliseconds.
  std::uint32_t pause_factor = 9;  // Pause after a transaction, in multiples of its duration.
  Millis pause_min{5};
};

/// New options, and possibly a new archive, for a running Retention.
struct RetentionChange {
  RetentionOptions options;
  bool other_archive = false;                  // Whether `archive` replaces the current one.
  std::unique_ptr<Archive> archive = nullptr;  // Null: no archive.
};

/// How often to sweep: a fraction of the shortest age, between a tenth of a second and an hour.
[[nodiscard]] Millis sweep_interval(const RetentionOptions& options);

/// Has a thread of its own. Private members are for that thread unless noted.
class Retention {
 public:
  /// All pointers but the archive must outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    Metrics* metrics = nullptr;
    ReaderPool* readers = nullptr;
    StoreThread* store = nullptr;
    const LeaderFlag* leader = nullptr;          // Only the leader works. Null: always.
    std::unique_ptr<Archive> archive = nullptr;  // Null: expired events are removed without a copy.
    std::function<std::string(const ExpiredEvent&)> archive_line = nullptr;  // One line of JSON.
  };

  Retention(RetentionOptions options, Parts parts);
  ~Retention();
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  void start();
  /// Takes effect soon: a running sweep is cut short. Any thread.
  void change(RetentionChange change);
  /// Ends after the current transaction. Call before the readers and the store are stopped.
  void stop();

 private:
  using FindExpired = Result<ExpiredPage> (RetentionReader::*)(const ExpiredQuery&);

  void run();
  void sweep();
  /// This and the following ones return false if they were cut short; the next sweep starts over.
  [[nodiscard]] bool remove_months(const RetentionCutoffs& cutoffs);
  [[nodiscard]] bool remove_expired(FindExpired find, ExpiredQuery query);
  [[nodiscard]] bool remove_webhooks(const RetentionCutoffs& cutoffs);
  [[nodiscard]] bool remove_all(const std::vector<ExpiredKey>& keys,
                                const RetentionCutoffs& cutoffs);
  void remove_old_stats(WallTime now);
  void remove_old_periods(const RetentionCutoffs& cutoffs);
  void remove_ended_operations(WallTime now);
  void release_space();

  [[nodiscard]] Result<ExpiredPage> read_page(FindExpired find, const ExpiredQuery& query);
  [[nodiscard]] Result<bool> archive_page(const ExpiredPage& page);
  /// Runs `act` on the store thread, then pauses in proportion to the time it took. Fails with
  /// unavailable if `act` does, and if it is time to stop.
  [[nodiscard]] Result<void> on_store(std::function<Result<void>(Store&)> act);
  void archive_failed(const Error& error);
  void archive_worked();
  void count(const Removed& removed);
  /// Returns false if it is time to stop.
  [[nodiscard]] bool pause(Millis duration);
  /// Waits for the next sweep or for a change, and applies the change. `is_due`: a sweep waits for
  /// this server to lead. Returns false if it is time to stop.
  [[nodiscard]] bool wait_for_sweep(bool is_due);
  [[nodiscard]] bool leads() const;
  [[nodiscard]] bool is_change_pending();

  RetentionOptions options_;
  Parts parts_;
  bool archive_failing_ = false;  // An outage is logged once, not on every sweep.

  std::mutex mutex_;  // Guards the two below.
  bool stopping_ = false;
  std::optional<RetentionChange> pending_change_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace postrider
