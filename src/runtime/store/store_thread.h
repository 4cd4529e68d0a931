// The only thread that writes to the store. Each turn takes everything that queued up during the
// previous one and commits it in one transaction: batches grow with load, latency stays about one
// fsync.
//
// Replies go to io threads as ShardReplies, in the order in which the store performed the work: for
// each io thread and turn at most one for what was committed and one for what came after it. The
// engine relies on that order: a lane page read before a settlement was committed reaches the shard
// before the settlement's answer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "engine/intake/publish.h"
#include "engine/shard/messages.h"
#include "ports/clock.h"
#include "ports/store.h"

#include "runtime/observability/metrics.h"
#include "runtime/observability/tracer.h"
#include "runtime/store/shard_replies.h"

namespace postrider {

/// In all jobs: `origin` and `worker` are the index of the io thread on which `done` runs.
struct PublishJob {
  std::vector<Publish> publishes;
  std::size_t origin = 0;
  std::function<void(Result<std::vector<PublishReceipt>>)> done;
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

  /// Any thread. Why the store cannot write now. Returns nullopt if it can.
  [[nodiscard]] std::optional<std::string> failure() const;

 private:
  void run();
  /// Returns nullopt when the thread must end.
  [[nodiscard]] std::optional<std::vector<StoreJob>> wait_for_jobs();
  void turn(std::vector<StoreJob> jobs);
  void deliver(RepliesByShard& replies);
  void commit(std::vector<StoreJob>& jobs, RepliesByShard& replies);
  void perform(StoreJob& job, RepliesByShard& replies);
  void keep_unsaved(std::vector<SaveCircuit>& circuits);
  [[nodiscard]] bool ready(RepliesByShard& replies);
  void fail_store(const std::string& reason);
  void count_failures(bool failed);
  void set_failure(std::optional<std::string> reason);

  StoreThreadOptions options_;
  Parts parts_;

  mutable std::mutex mutex_;  // Guards the five below.
  std::condition_variable wake_;
  std::vector<StoreJob> queue_;
  std::size_t publishes_queued_ = 0;
  std::size_t publish_bytes_queued_ = 0;
  bool stopping_ = false;
  std::optional<std::string> failure_;

  // Store thread only.
  std::vector<SaveCircuit> unsaved_circuits_;  // From failed batches.
  std::uint32_t failures_in_row_ = 0;
  bool broken_ = false;  // A commit failed and recover() has not succeeded since.
  std::thread thread_;
};

}  // namespace postrider
