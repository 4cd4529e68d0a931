// Carries operations out: reads a page on a reader thread, has its orders committed together with
// the progress on the store thread, and goes on. Small chunks with pauses between them, so that
// deliveries never wait for it.
//
// Lives on one io thread; what is stored decides, not what is remembered here: a chunk finds out on
// the store thread whether its operation still runs. After a restart it goes on where it was.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "ports/clock.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/admin/operation_step.h"
#include "runtime/store/reader_pool.h"
#include "runtime/store/store_thread.h"

namespace postrider {

/// All outlive the runner but the io thread's loop, which is stopped before it goes.
struct OperationRunnerParts {
  boost::asio::io_context* io = nullptr;
  std::size_t worker = 0;  // Whose loop that is.
  const Clock* clock = nullptr;
  StoreThread* store = nullptr;
  ReaderPool* readers = nullptr;
  Metrics* metrics = nullptr;
  std::function<std::shared_ptr<const Directory>()> directory;  // Any thread.
  std::function<Uuid()> new_uuid;                               // Any thread.
  /// What a chunk did, on the store thread.
  std::function<void(const Batch&, const BatchReceipt&)> on_committed;
};

class OperationRunner {
 public:
  explicit OperationRunner(OperationRunnerParts parts);
  ~OperationRunner();
  OperationRunner(const OperationRunner&) = delete;
  OperationRunner& operator=(const OperationRunner&) = delete;

  /// On the store thread. Stores the operation and takes it on. Fails with conflict when there are
  /// too many.
  [[nodiscard]] Result<Operation> add(const ChangeContext& context, const Operation& operation);
  /// On the store thread. Nothing more of it is begun. Fails with not_found, and with conflict when
  /// it is over.
  [[nodiscard]] Result<Operation> cancel(const ChangeContext& context, OperationId id);

  /// Any thread, like the following. Those of an earlier life.
  void resume(std::vector<Operation> unfinished);
  /// Begins nothing any more. What is on its way is carried out or is not: both are fine.
  void stop();

 private:
  struct Run;
  /// What a change did to deliveries, if anything.
  struct Work {
    Batch batch;
    BatchReceipt receipt;
  };
  /// Runs on the store thread, within one transaction: the operation as it is to be from now on.
  using Change = std::function<Result<Operation>(Store&, Operation stored, Work& work)>;

  void take(Operation operation);
  void forget(OperationId id);
  void advance(Run& run);
  void make(Run& run, const WaitForStart& move);
  void make(Run& run, const WaitForPace& move);
  void make(Run& run, const Begin& move);
  void make(Run& run, const CountTotal& move);
  void make(Run& run, const TakeChunk& move);
  void make(Run& run, const Rest& move);
  void sleep(Run& run, Micros wait);

  /// The webhook of a replay; none when the operation has failed for want of it.
  [[nodiscard]] WebhookRef webhook_of(Run& run);
  void counted_on(Run& run, std::uint64_t found, std::optional<std::int64_t> next);
  template <class Answer, class Query, class Then>
  void read(Run& run, Query query, Then then);
  template <class Item>
  void carry_out(Run& run, const Result<Listed<Item>>& page, std::size_t orders_max);
  void commit(Run& run, ChunkPlan plan);
  void change(Run& run, Change change);
  void changed(OperationId id, const Result<Operation>& stored);
  void pause(Run& run, const Error& error);

  OperationRunnerParts parts_;
  std::map<OperationId, std::unique_ptr<Run>> runs_;
  bool stopping_ = false;
};

}  // namespace postrider
