// The one thread that writes. It takes everything that queued up while the previous transaction ran
// and commits it as one: batches grow with load, latency stays about one fsync.
//
// Answers go to io threads as ShardReplies, one parcel per io thread and turn, in the order in
// which the store performed the work. The engine relies on that order: a lane page read before a
// settlement was committed reaches the shard before the settlement's answer.
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
#include "engine/intake/intake.h"
#include "engine/shard/shard.h"
#include "ports/clock.h"
#include "ports/store.h"

#include "runtime/observability/metrics.h"
#include "runtime/store/payload_cache.h"

namespace postrider {

/// What one turn has for one io thread.
struct ShardReplies {
  std::vector<EventRef> events;                    // Payloads of the Admitted deliveries.
  std::vector<Input> inputs;                       // For its shard, in order.
  std::vector<std::function<void()>> completions;  // For whoever waits there.

  [[nodiscard]] bool empty() const { return inputs.empty() && completions.empty(); }
};

/// One parcel per io thread.
using RepliesByShard = std::vector<ShardReplies>;

/// `origin` is the io thread on which `done` is to run.
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
/// Anything with the store beside the ledger's batches. Runs on the store thread, after the turn's
/// commit. An answer of unavailable means that the store failed; the job has told whoever waits
/// itself.
struct StoreTask {
  std::function<Result<void>(Store&, RepliesByShard&)> run;
};

using StoreJob = std::variant<PublishJob, SettleJob, ReviveJob, CancelJob, CircuitJob, LoadLaneJob,
                              LoadEventsJob, StoreTask>;

struct StoreThreadOptions {
  std::size_t publishes_queued_max = 50'000;         // About two seconds of work.
  std::size_t publish_bytes_queued_max = 64u << 20;  // What we may hold for the disk (P6).
  std::size_t worker_count = 1;
  Millis recover_pause{200};  // Between attempts to reopen a failed store.
};

class StoreThread {
 public:
  struct Parts {
    Store store;
    const Clock* clock = nullptr;
    Metrics* metrics = nullptr;
    std::function<void(std::size_t worker, ShardReplies replies)> send;
    std::function<void(const std::string& reason)> on_failure;
    /// The store came back: deliveries of batches that failed may be in it after all.
    std::function<void(const std::vector<LaneBacklog>&, RepliesByShard&)> on_recovered;
    /// A batch is on disk; nobody has been answered yet.
    std::function<void(const Batch&, const BatchReceipt&)> on_committed = nullptr;
    /// How often it has failed in a row by now; 0: it works again. May be empty.
    std::function<void(std::uint32_t failures)> on_streak = {};
  };

  StoreThread(StoreThreadOptions options, Parts parts);
  ~StoreThread();
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  void start();
  /// Finishes what is queued, then ends the thread.
  void stop();

  /// Any thread. False when the queue is full: nothing was taken, `job` is as it was (P6).
  [[nodiscard]] bool try_publish(PublishJob&& job);
  /// Any thread. Never refused: what the engine asks for is bounded by the engine.
  void submit(StoreJob job);

  /// Why the store cannot write at the moment.
  [[nodiscard]] std::optional<std::string> failure() const;

 private:
  void run();
  void turn(std::vector<StoreJob> jobs);
  void commit(std::vector<StoreJob>& jobs, RepliesByShard& replies);
  void perform(StoreJob& job, RepliesByShard& replies);
  void owe(std::vector<SaveCircuit>& circuits);
  [[nodiscard]] bool ready(RepliesByShard& replies);
  void fail_store(const std::string& reason);
  void count_streak(bool failed);
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

  // The store thread's own.
  std::vector<SaveCircuit> unsaved_circuits_;  // Of batches that failed.
  std::uint32_t failures_in_row_ = 0;
  bool broken_ = false;  // A commit failed and recover() has not succeeded.
  std::thread thread_;
};

}  // namespace postrider
