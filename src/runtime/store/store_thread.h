// The only thread that writes to the store. Each turn takes what queued up during the previous one,
// up to a limit, and commits it in one transaction: batches grow with load, latency stays about one
// fsync.
//
// Replies go to io threads as ShardReplies, in the order in which the store performed the work: for
// each io thread and turn at most one for what was committed and one for what came after it. The
// engine relies on that order: a lane page read before a settlement was committed reaches the shard
// before the settlement's answer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/model/catalog_version.h"
#include "engine/intake/publish.h"
#include "engine/shard/messages.h"
#include "ports/clock.h"
#include "ports/store.h"

#include "runtime/observability/metrics.h"
#include "runtime/observability/tracer.h"
#include "runtime/store/connection_meter.h"
#include "runtime/store/shard_replies.h"

namespace postrider {

/// In all jobs: `origin` and `worker` are the index of the io thread on which `done` runs.
struct PublishJob {
  std::vector<Publish> publishes;
  std::size_t origin = 0;
  std::function<void(Result<std::vector<PublishReceipt>>)> done;
  /// The version of the catalogue that the publishes were planned with. nullopt: it does not
  /// matter.
  std::optional<CatalogVersion> catalog_seen = std::nullopt;
};
struct SettleJob {
  std::size_t worker = 0;
  std::vector<Settlement> settlements;
};
struct ReviveJob {
  Revive revive;
  std::optional<AuditEntry> audit;
  std::size_t origin = 0;
  std::function<void(Result<Delivery>)> done;
};
struct CancelJob {
  Cancel cancel;
  std::optional<AuditEntry> audit;
  std::size_t origin = 0;
  std::function<void(Result<Delivery>)> done;
};
struct CircuitJob {
  SaveCircuit save;
};
struct LoadLaneJob {
  std::size_t worker = 0;
  LoadLane query;
};
struct LoadEventsJob {
  std::size_t worker = 0;
  std::vector<EventId> ids;
  std::function<void(Result<std::vector<Event>>)> done;
};
/// Any other work on the store. Runs on the store thread, after the turn's commit. Returning
/// unavailable means that the store failed. The task itself replies to its caller.
struct StoreTask {
  std::function<Result<void>(Store&, RepliesByShard&)> run;
};

using StoreJob = std::variant<PublishJob, SettleJob, ReviveJob, CancelJob, CircuitJob, LoadLaneJob,
                              LoadEventsJob, StoreTask>;

struct StoreThreadOptions {
  std::size_t publishes_queued_max = 50'000;         // About two seconds of work.
  std::size_t publish_bytes_queued_max = 64u << 20;  // Bounds memory while the disk is slow (P6).
  /// Deliveries that one transaction adds for publishes: about a second of work, far below what a
  /// statement may take. One job may add more. The rest waits for the next turn.
  std::size_t turn_deliveries_max = 20'000;
  std::size_t worker_count = 1;
  Millis recover_pause{200};  // Between attempts to reopen a failed store.
};

/// The node as the store thread sees it. Called on the store thread.
class StoreThreadOwner {
 public:
  /// Hands one turn's replies to the thread of a shard. Must not block.
  virtual void deliver(std::size_t worker, ShardReplies replies) = 0;
  /// A batch is on disk; nobody has been answered yet.
  virtual void batch_committed(const Batch& batch, const BatchReceipt& receipt) = 0;
  /// The store cannot write until store_recovered.
  virtual void store_failed(const std::string& reason) = 0;
  /// The store works again. Batches that failed may be stored after all, so the lanes must look.
  virtual void store_recovered(const std::vector<LaneBacklog>& backlog,
                               RepliesByShard& replies) = 0;
  /// Deliveries of this batch are about to be admitted to their lanes. If other servers share the
  /// store, first admits what they had stored for the same lanes (P4). After a failure the lanes
  /// get the deliveries when the store has recovered.
  virtual Result<void> before_admission(const BatchReceipt& receipt, Store& store,
                                        RepliesByShard& replies) = 0;
  /// Publishes were refused because the catalogue has changed. Called before they are answered.
  virtual void catalog_changed(Store& store, RepliesByShard& replies) = 0;
  /// The store has failed `failures_in_row` times in a row. 0: it has written again.
  virtual void failures_counted(std::uint32_t failures_in_row) = 0;

 protected:
  ~StoreThreadOwner() = default;
};

class StoreThread {
 public:
  /// Everything referred to must outlive the thread.
  struct Parts {
    Store store;
    const Clock* clock = nullptr;
    Metrics* metrics = nullptr;
    StoreThreadOwner* owner = nullptr;
    Tracer* tracer = nullptr;  // Null: tracing is off.
  };

  StoreThread(StoreThreadOptions options, Parts parts);
  ~StoreThread();
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  void start();
  /// Finishes the queued jobs, then joins the thread.
  void stop();

  /// Any thread. Returns false and leaves `job` unchanged if the queue is full (P6).
  [[nodiscard]] bool try_publish(PublishJob&& job);
  /// Any thread. Never refused, because the engine bounds what it asks for.
  void submit(StoreJob job);

  /// Store thread only. Forgets the circuits of the shard that could not be stored: another server
  /// works it from now on.
  void drop_unsaved_circuits(ShardNumber shard);

  /// Any thread. Why the store cannot write now. Returns nullopt if it can.
  [[nodiscard]] std::optional<std::string> failure() const;

  /// Any thread. Each job is a request.
  [[nodiscard]] ConnectionUse use() const { return meter_.use(); }

 private:
  struct QueuedJob {
    StoreJob job;
    MonoTime since;
    std::size_t deliveries = 0;  // That it adds.
    std::size_t publishes = 0;   // Counted in publishes_queued_ …
    std::size_t bytes = 0;       // … and in publish_bytes_queued_.
  };

  void run();
  /// With the lock held.
  void enqueue(QueuedJob job);
  /// Returns false when the thread must end.
  [[nodiscard]] bool wait_for_jobs();
  /// The jobs of the next turn: all, or those whose deliveries fit.
  [[nodiscard]] std::vector<StoreJob> take_jobs(bool all);
  /// With the lock held. The number of jobs whose deliveries fit into one turn.
  [[nodiscard]] std::size_t count_fitting() const;
  void turn();
  void deliver(RepliesByShard& replies);
  void commit(std::vector<StoreJob>& jobs, RepliesByShard& replies);
  void refuse(std::vector<StoreJob>& jobs, RepliesByShard& replies);
  void perform(StoreJob& job, RepliesByShard& replies);
  void keep_unsaved(std::vector<SaveCircuit>& circuits);
  [[nodiscard]] bool ready(RepliesByShard& replies);
  [[nodiscard]] Result<void> count_waiting();
  void fail_store(const std::string& reason);
  void count_failures(bool failed);
  void set_failure(std::optional<std::string> reason);

  StoreThreadOptions options_;
  Parts parts_;

  mutable std::mutex mutex_;  // Guards the five below.
  std::condition_variable wake_;
  std::deque<QueuedJob> queue_;
  std::size_t publishes_queued_ = 0;
  std::size_t publish_bytes_queued_ = 0;
  bool stopping_ = false;
  std::optional<std::string> failure_;

  ConnectionMeter meter_{"writer", 1};

  // Store thread only.
  std::vector<SaveCircuit> unsaved_circuits_;  // From failed batches.
  std::uint32_t failures_in_row_ = 0;
  bool broken_ = false;  // A commit failed and recover() has not succeeded since.
  std::thread thread_;
};

}  // namespace postrider
