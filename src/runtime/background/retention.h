// Lets old things go, a little at a time: finds them through a reader, archives them when there is
// an archive, and only then has the store thread remove them. Delivery is never kept waiting for
// more than one small turn.
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

#include "runtime/observability/metrics.h"
#include "runtime/store/reader_pool.h"
#include "runtime/store/store_thread.h"

namespace postrider {

struct RetentionOptions {
  RetentionAges ages;
  Millis stats = std::chrono::hours{24 * 90};       // Numbers over time. Zero: for good.
  Millis operations = std::chrono::hours{24 * 30};  // Since they finished. Zero: for good.
  std::uint32_t turn_max = 200;  // Events of one transaction: about ten milliseconds of the store.
  std::uint32_t pause_factor = 9;  // A turn is followed by so many times its length of rest.
  Millis pause_min{5};
};

/// What may become different while it runs.
struct RetentionChange {
  RetentionOptions options;
  bool other_archive = false;                  // Then
  std::unique_ptr<Archive> archive = nullptr;  // this one takes its place; null: none.
};

/// How often to look: as often as the shortest age asks for, within a tenth of a second and an
/// hour.
[[nodiscard]] Millis sweep_interval(const RetentionOptions& options);

/// One thread of its own.
class Retention {
 public:
  /// What it uses and does not own, but for the archive.
  struct Parts {
    const Clock* clock = nullptr;
    Metrics* metrics = nullptr;
    ReaderPool* readers = nullptr;
    StoreThread* store = nullptr;
    std::unique_ptr<Archive> archive = nullptr;  // Null: what is old is just removed.
    std::function<std::string(const ExpiredEvent&)> archive_line = nullptr;  // One line of JSON.
  };

  Retention(RetentionOptions options, Parts parts);
  ~Retention();
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  void start();
  /// Soon: a sweep under way is cut short. Any thread.
  void change(RetentionChange change);
  /// Ends after the turn under way. Before the readers and the store are stopped.
  void stop();

 private:
  using Look = Result<ExpiredPage> (RetentionReader::*)(const ExpiredQuery&);

  void run();
  void sweep();
  [[nodiscard]] bool let_go(Look look, const RetentionCutoffs& cutoffs);
  [[nodiscard]] bool remove_all(const std::vector<ExpiredKey>& names,
                                const RetentionCutoffs& cutoffs);
  void forget_stats(WallTime now);
  void forget_operations(WallTime now);
  void give_back_space();

  [[nodiscard]] Result<ExpiredPage> look_up(Look look, const ExpiredQuery& query);
  [[nodiscard]] Result<bool> archive_page(const ExpiredPage& page);
  [[nodiscard]] Result<void> on_store(std::function<Result<void>(Store&)> act);
  void archive_failed(const Error& error);
  void archive_worked();
  void count(const Removed& removed);
  /// False: it is time to end.
  [[nodiscard]] bool rest(Millis duration);
  /// Until the next sweep, or until somebody wants a change, which is then made. False: it is time
  /// to end.
  [[nodiscard]] bool rest_between_sweeps();
  [[nodiscard]] bool is_change_wanted();

  RetentionOptions options_;
  Parts parts_;
  bool archive_failing_ = false;  // So that an outage is one line in the log, not one a minute.

  std::mutex mutex_;  // Guards the two below.
  bool stopping_ = false;
  std::optional<RetentionChange> wanted_;  // Not yet in force.
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace postrider
