// Runs operations: reads a page on a reader thread, where a replay also compares the events with
// the webhook's filter, which may take long; commits the page's orders together with the
// operation's progress on the store thread, and repeats. Works in small chunks with pauses, so that
// deliveries do not wait for it. What becomes of the deliveries is counted by the store, together
// with their settlements; an operation that only waits for that needs no runner.
//
// Loop thread only unless noted. The stored operation decides, not the copy held here: each chunk
// checks on the store thread whether its operation is still unfinished. After a restart an
// operation continues where it was.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/admin/operation_shares.h"
#include "engine/admin/operation_step.h"
#include "ports/clock.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/background/event_loop.h"
#include "runtime/cluster/leader_flag.h"
#include "runtime/observability/batch_stream_events.h"
#include "runtime/store/reader_pool.h"
#include "runtime/store/store_thread.h"

namespace postrider {

/// All of them must outlive the runner.
struct OperationRunnerParts {
  EventLoop* loop = nullptr;  // Must have stopped before the runner is destroyed.
  std::size_t worker = 0;     // The io thread of `loop`.
  const Clock* clock = nullptr;
  StoreThread* store = nullptr;
  ReaderPool* readers = nullptr;
  Metrics* metrics = nullptr;
  const AdminChanges* changes = nullptr;
  BatchStreamPublisher* stream = nullptr;
  /// A batch is on disk. Store thread. Empty: nobody else wants to know.
  std::function<void(const Batch&, const BatchReceipt&)> committed = {};
  /// An operation has completed or failed, not only by the outcomes of its deliveries. Store
  /// thread. Empty: nobody else wants to know.
  std::function<void(const Operation&)> ended = {};
  std::function<Uuid()> new_uuid;      // Any thread.
  const LeaderFlag* leader = nullptr;  // Only the leader runs operations. Null: always.
};

class OperationRunner {
 public:
  /// Suspended at first if another server is the leader.
  explicit OperationRunner(OperationRunnerParts parts);
  ~OperationRunner();
  OperationRunner(const OperationRunner&) = delete;
  OperationRunner& operator=(const OperationRunner&) = delete;

  /// Stores the operation and starts to run it. Fails with conflict if too many are unfinished:
  /// see check_room(). Store thread.
  [[nodiscard]] Result<Operation> add(const ChangeContext& context, const Operation& operation,
                                      const ShareOwner& starter,
                                      const std::optional<RequestKey>& key);
  /// No further chunk of the operation is committed. Fails with not_found, and with conflict if it
  /// has ended. Store thread.
  [[nodiscard]] Result<Operation> cancel(const ChangeContext& context, OperationId id);

  /// Runs these operations too, which an earlier run of the server or another server left
  /// unfinished. Any thread.
  void resume(std::vector<Operation> unfinished);
  /// Runs nothing until `resume` is called: another server does. Any thread.
  void suspend();
  /// Starts nothing new. A chunk that is already queued may or may not be committed; both are
  /// correct. Any thread.
  void stop();

 private:
  struct Run;
  /// What a change did to deliveries, if anything.
  struct Committed {
    Batch batch;
    BatchReceipt receipt;
  };
  /// Runs on the store thread, within one transaction. Returns the operation to store.
  using Change = std::function<Result<Operation>(Store&, Operation stored, Committed& committed)>;

  void start_run(Operation operation);
  void remove_run(OperationId id);
  void advance(Run& run);
  void perform(Run& run, const WaitForStart& step);
  void perform(Run& run, const WaitForPace& step);
  void perform(Run& run, const Begin& step);
  void perform(Run& run, const CountTotal& step);
  void perform(Run& run, const TakeChunk& step);
  void perform(Run& run, const Done& step);
  void sleep(Run& run, Micros wait);

  void count_replay(Run& run, const WebhookRef& webhook, std::int64_t place);
  void take_replay(Run& run, const WebhookRef& webhook, const TakeChunk& step);
  /// The webhook of a replay. Null, after failing the operation, if it is removed or not active.
  [[nodiscard]] WebhookRef replayed_webhook(Run& run);
  void add_count(Run& run, std::uint64_t found, std::optional<std::int64_t> next);
  template <class Answer, class Query, class Then>
  void read(Run& run, Query query, Then then);
  void commit_page(Run& run, const Result<Listed<DeliveryRecord>>& page, std::size_t actions_max);
  void commit(Run& run, ChunkPlan plan);
  /// Stores what `change` makes of an operation that has work. Others stay as they are.
  [[nodiscard]] static Result<Operation> change_stored(Store& store, OperationId id,
                                                       const Change& change, Committed& committed);
  void change(Run& run, Change change);
  void on_changed(OperationId id, const Result<Operation>& stored);
  void retry_later(Run& run, const Error& error);

  OperationRunnerParts parts_;
  std::map<OperationId, std::unique_ptr<Run>> runs_;  // The operations that have work left.
  bool suspended_;
  bool stopping_ = false;
};

}  // namespace postrider
