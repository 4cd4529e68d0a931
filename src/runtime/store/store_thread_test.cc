#include "runtime/store/store_thread.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/faulty_ledger.h"
#include "tests/support/manual_clock.h"
#include "tests/support/test_digest.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

/// What the io threads received, in order.
class ReceivedReplies {
 public:
  void put(std::size_t worker, ShardReplies replies) {
    const std::lock_guard lock{mutex_};
    for (Input& input : replies.inputs) {
      input_workers_.push_back(worker);
      inputs_.push_back(std::move(input));
    }
    for (std::function<void()>& completion : replies.completions) {
      completion();
      completion_workers_.push_back(worker);
      ++completions_;
    }
    arrived_.notify_all();
  }

  /// Returns false on timeout.
  [[nodiscard]] bool wait_for(std::size_t inputs, std::size_t completions) {
    std::unique_lock lock{mutex_};
    return arrived_.wait_for(
        lock, 10s, [&] { return inputs_.size() >= inputs && completions_ >= completions; });
  }

  [[nodiscard]] std::vector<Input> inputs() {
    const std::lock_guard lock{mutex_};
    return inputs_;
  }

  /// The io threads that received an `Expected`.
  template <class Expected>
  [[nodiscard]] std::vector<std::size_t> workers_with() {
    const std::lock_guard lock{mutex_};
    std::vector<std::size_t> workers;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (std::holds_alternative<Expected>(inputs_[i])) {
        workers.push_back(input_workers_[i]);
      }
    }
    return workers;
  }

  /// The io threads on which completions ran.
  [[nodiscard]] std::vector<std::size_t> completion_workers() {
    const std::lock_guard lock{mutex_};
    return completion_workers_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Input> inputs_;
  std::vector<std::size_t> input_workers_;
  std::vector<std::size_t> completion_workers_;
  std::size_t completions_ = 0;
};

class StoreThreadTest : public testing::Test {
 protected:
  void open(test::StoreFaultPlan plan = {}, StoreThreadOptions options = {}) {
    real_ = make_memory_ledger(store_);
    if (!plan) {
      plan = [](std::uint64_t) { return std::nullopt; };
    }
    Store store = make_memory_store(store_);
    store.ledger = std::make_unique<test::FaultyLedger>(*real_, std::move(plan));
    owner_.on_deliver = [this](std::size_t worker, ShardReplies replies) {
      replies_.put(worker, std::move(replies));
    };
    owner_.on_failed = [this](const std::string&) { ++failures_; };
    owner_.on_recovered = [this](const std::vector<LaneBacklog>& backlog, RepliesByShard&) {
      recovered_backlog_ = backlog.size();
    };
    owner_.on_failures_counted = [this](std::uint32_t count) {
      const std::lock_guard lock{failure_counts_mutex_};
      failure_counts_.push_back(count);
    };
    thread_ = std::make_unique<StoreThread>(options, StoreThread::Parts{.store = std::move(store),
                                                                        .clock = &clock_,
                                                                        .metrics = metrics_.get(),
                                                                        .owner = &owner_});
  }

  /// Every call of the ledger fails while `store_fails_` is set.
  void open_with_switch() {
    open(
        [this](std::uint64_t) {
          return store_fails_ ? std::optional{test::StoreFault::lost} : std::nullopt;
        },
        {.recover_pause = 1ms});
  }

  /// Waits until the store can write. Returns false on timeout.
  [[nodiscard]] bool recovers() {
    return eventually([this] { return !thread_->failure(); });
  }

  template <class Condition>
  [[nodiscard]] static bool eventually(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) {
        return false;
      }
      std::this_thread::yield();
    }
    return true;
  }

  /// Runs a task that does not touch the store, and waits for it. Returns false on timeout.
  [[nodiscard]] bool run_idle_task() {
    std::atomic<bool> done = false;
    thread_->submit(StoreTask{[&done](Store&, RepliesByShard&) {
      done = true;
      return Result<void>{};
    }});
    return eventually([&done] { return done.load(); });
  }

  [[nodiscard]] std::vector<std::uint32_t> failure_counts() {
    const std::lock_guard lock{failure_counts_mutex_};
    return failure_counts_;
  }

  void save_circuit(CircuitState state) {
    CircuitRecord record;
    record.state = state;
    thread_->submit(CircuitJob{{webhook_, record}});
  }

  [[nodiscard]] ReviveJob revive_job(std::uint8_t number, const std::string& action = {}) {
    ReviveJob job;
    job.revive.delivery_id.bytes[15] = number;
    job.revive.now = clock_.now().wall;
    job.audit = AuditEntry{.at = clock_.now().wall, .action = action};
    job.done = [this](const Result<Delivery>& result) { (result ? accepted_ : refused_)++; };
    return job;
  }
  [[nodiscard]] CancelJob cancel_job(std::uint8_t number, const std::string& action = {}) {
    CancelJob job;
    job.cancel = {.delivery_id = {}, .now = clock_.now().wall};
    job.cancel.delivery_id.bytes[15] = number;
    job.audit = AuditEntry{.at = clock_.now().wall, .action = action};
    job.done = [this](const Result<Delivery>& result) { (result ? accepted_ : refused_)++; };
    return job;
  }

  /// Stores an event with one delivery. Before start().
  void store_event(std::uint8_t number) {
    ASSERT_TRUE(real_->commit({.publishes = publish_job(number).publishes}));
  }

  [[nodiscard]] PublishJob publish_job(std::uint8_t number) {
    Publish publish;
    publish.event.id.bytes[15] = number;
    publish.event.type = "order.paid";
    publish.event.data = "{}";
    Delivery delivery;
    delivery.id.bytes[15] = number;
    delivery.event_id = publish.event.id;
    delivery.webhook_id = webhook_;
    publish.deliveries.push_back(delivery);
    PublishJob job;
    job.publishes.push_back(std::move(publish));
    job.done = [this](const Result<std::vector<PublishReceipt>>& result) {
      (result ? accepted_ : refused_)++;
    };
    return job;
  }

  MemoryStore store_;
  test::ManualClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  ReceivedReplies replies_;
  std::unique_ptr<Ledger> real_;
  test::FakeStoreOwner owner_;
  std::unique_ptr<StoreThread> thread_;
  WebhookId webhook_{};
  int accepted_ = 0;
  int refused_ = 0;
  std::atomic<bool> store_fails_ = false;
  std::atomic<int> failures_ = 0;
  std::atomic<std::size_t> recovered_backlog_ = 0;
  std::mutex failure_counts_mutex_;
  std::vector<std::uint32_t> failure_counts_;  // Guarded by failure_counts_mutex_.
};

TEST_F(StoreThreadTest, AnswersAStoredPublishAndAdmitsItsDelivery) {
  open();
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(replies_.wait_for(1, 1));
  EXPECT_EQ(accepted_, 1);
  EXPECT_EQ(store_.events.size(), 1u);
  const std::vector<Input> inputs = replies_.inputs();
  EXPECT_EQ(std::get<Admitted>(inputs[0]).deliveries.size(), 1u);
}

TEST_F(StoreThreadTest, CommitsQueuedJobsInOneTransaction) {
  open();
  for (std::uint8_t number = 1; number <= 20; ++number) {
    ASSERT_TRUE(thread_->try_publish(publish_job(number)));
  }
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(1, 20));
  const std::vector<Input> inputs = replies_.inputs();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(std::get<Admitted>(inputs[0]).deliveries.size(), 20u);
  EXPECT_NE(metrics_->text().find("postrider_store_commit_seconds_count 1"), std::string::npos);
}

TEST_F(StoreThreadTest, MeasuresHowLongTheFirstJobOfATurnWaited) {
  open();
  thread_->submit(publish_job(1));
  clock_.advance(3s);
  thread_->submit(publish_job(2));
  EXPECT_EQ(thread_->use().waiting, 2u);
  EXPECT_EQ(thread_->use().in_use, 0u);
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(0, 2));
  thread_->stop();
  EXPECT_EQ(thread_->use().waiting, 0u);
  EXPECT_EQ(thread_->use().in_use, 0u);
  EXPECT_EQ(thread_->use().waits.count, 1u);
  EXPECT_DOUBLE_EQ(thread_->use().waits.sum, 3);
}

TEST_F(StoreThreadTest, AnswersAPublishBeforeItRunsATaskOfTheSameTurn) {
  open();
  int answered_before = -1;
  thread_->submit(StoreTask{[&](Store&, RepliesByShard&) {
    answered_before = accepted_;
    return Result<void>{};
  }});
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->start();
  thread_->stop();
  EXPECT_EQ(answered_before, 1);
}

TEST_F(StoreThreadTest, RefusesPublishesWhenTheQueueIsFull) {  // P6
  open({}, {.publishes_queued_max = 2});
  EXPECT_TRUE(thread_->try_publish(publish_job(1)));
  EXPECT_TRUE(thread_->try_publish(publish_job(2)));
  PublishJob third = publish_job(3);
  EXPECT_FALSE(thread_->try_publish(std::move(third)));
  EXPECT_TRUE(third.done) << "a refused job is as it was";
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(1, 2));
  EXPECT_EQ(store_.events.size(), 2u);
}

TEST_F(StoreThreadTest, AnswersLoadsAfterEarlierCommits) {
  open();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->submit(LoadLaneJob{
      .worker = 0,
      .query = {.webhook_id = webhook_, .due_before = wall_from_unix_ms(1), .limit = 10}});
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(2, 1));
  const std::vector<Input> inputs = replies_.inputs();
  EXPECT_TRUE(std::holds_alternative<Admitted>(inputs[0]));
  EXPECT_EQ(std::get<LaneLoaded>(inputs[1]).deliveries.size(), 1u);
}

TEST_F(StoreThreadTest, FailsAllCallersOfAFailedCommitAndRecovers) {  // P1
  open(test::fail_nth(0, test::StoreFault::ambiguous), {.recover_pause = 1ms});
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  Settlement settlement;
  settlement.delivery.webhook_id = webhook_;
  thread_->submit(SettleJob{.worker = 0, .settlements = {settlement}});
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(1, 1));
  EXPECT_EQ(refused_, 1);
  EXPECT_TRUE(std::holds_alternative<StoreFailed>(replies_.inputs()[0]));
  EXPECT_EQ(failures_, 1);

  // The batch may be stored after all, so the lanes must look.
  ASSERT_TRUE(recovers());
  thread_->submit(LoadLaneJob{
      .worker = 0,
      .query = {.webhook_id = webhook_, .due_before = wall_from_unix_ms(1), .limit = 10}});
  ASSERT_TRUE(replies_.wait_for(2, 1));
  EXPECT_EQ(recovered_backlog_, 1u);
  EXPECT_EQ(thread_->failure(), std::nullopt);
}

TEST_F(StoreThreadTest, AdmitsADeliveryThatWasRevivedBeforeItsSettlement) {
  open();
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(replies_.wait_for(1, 1));
  Settlement death;
  death.delivery = std::get<Admitted>(replies_.inputs()[0]).deliveries.front();
  death.delivery.state = DeliveryState::dead_letter;
  Revive revive{.delivery_id = death.delivery.id, .now = clock_.now().wall, .priority = {}};
  thread_->submit(ReviveJob{
      .revive = revive, .audit = {}, .origin = 0, .done = [](const Result<Delivery>&) {}});
  ASSERT_TRUE(replies_.wait_for(2, 2));
  thread_->submit(SettleJob{.worker = 0, .settlements = {death}});
  ASSERT_TRUE(replies_.wait_for(4, 2));
  const std::vector<Input> inputs = replies_.inputs();
  EXPECT_TRUE(std::holds_alternative<Settled>(inputs[2]));
  EXPECT_EQ(std::get<Admitted>(inputs[3]).deliveries.front().revivals, 1u);
}

TEST_F(StoreThreadTest, CountsDeadLettersOnceStored) {
  open();
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(replies_.wait_for(1, 1));
  Settlement death;
  death.delivery = std::get<Admitted>(replies_.inputs()[0]).deliveries.front();
  death.delivery.state = DeliveryState::dead_letter;
  thread_->submit(SettleJob{.worker = 0, .settlements = {death, death}});
  ASSERT_TRUE(replies_.wait_for(2, 1));
  EXPECT_NE(metrics_->text().find("webhook_dlq_size{tenant_id=\"\"} 1\n"), std::string::npos);
  Revive revive{.delivery_id = death.delivery.id, .now = clock_.now().wall, .priority = {}};
  thread_->submit(ReviveJob{
      .revive = revive, .audit = {}, .origin = 0, .done = [](const Result<Delivery>&) {}});
  ASSERT_TRUE(replies_.wait_for(3, 2));
  EXPECT_NE(metrics_->text().find("webhook_dlq_size{tenant_id=\"\"} 0\n"), std::string::npos);
}

TEST_F(StoreThreadTest, CountsFailuresInARowUntilACommitSucceeds) {
  // The commit fails, then reopening the store fails twice.
  const test::StoreFaultPlan plan = [](std::uint64_t call) {
    return call < 3 ? std::optional{test::StoreFault::lost} : std::nullopt;
  };
  open(plan, {.recover_pause = 1ms});
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(0, 1));
  ASSERT_TRUE(recovers());
  ASSERT_TRUE(thread_->try_publish(publish_job(2)));
  ASSERT_TRUE(thread_->try_publish(publish_job(3)));
  ASSERT_TRUE(replies_.wait_for(1, 3));
  thread_->stop();
  EXPECT_EQ(failure_counts_, (std::vector<std::uint32_t>{1, 2, 3, 0}));
}

TEST_F(StoreThreadTest, KeepsCountingFailuresWhileTasksSucceedWithoutTheStore) {
  open_with_switch();
  store_fails_ = true;
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(replies_.wait_for(0, 1));
  while (failure_counts().size() < 5) {
    ASSERT_TRUE(run_idle_task());
  }
  std::vector<std::uint32_t> counts = failure_counts();
  counts.resize(5);
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
  store_fails_ = false;
  ASSERT_TRUE(recovers());
  ASSERT_TRUE(thread_->try_publish(publish_job(2)));
  ASSERT_TRUE(replies_.wait_for(1, 2));
  EXPECT_EQ(failure_counts().back(), 0u);
}

TEST_F(StoreThreadTest, FailsWhenATaskFindsTheStoreUnavailable) {
  open_with_switch();
  store_fails_ = true;  // Not reopened yet.
  thread_->submit(StoreTask{[](Store&, RepliesByShard&) -> Result<void> {
    return fail(Errc::unavailable, "The disk is full.");
  }});
  thread_->start();
  ASSERT_TRUE(eventually([this] { return thread_->failure().has_value(); }));
  EXPECT_EQ(thread_->failure(), "The disk is full.");
  store_fails_ = false;
  ASSERT_TRUE(recovers());
  EXPECT_EQ(failures_, 1);
  EXPECT_EQ(failure_counts().front(), 1u);
  ASSERT_TRUE(run_idle_task());
  thread_->stop();
  EXPECT_EQ(failure_counts().back(), 0u) << "a task has succeeded since the store was reopened";
}

TEST_F(StoreThreadTest, DoesNotFailWhenATaskIsRefused) {
  open();
  thread_->submit(StoreTask{
      [](Store&, RepliesByShard&) -> Result<void> { return fail(Errc::conflict, "Taken."); }});
  thread_->start();
  thread_->stop();
  EXPECT_EQ(thread_->failure(), std::nullopt);
  EXPECT_EQ(failures_, 0);
}

TEST_F(StoreThreadTest, RefusesMoreBytesThanItMayQueue) {  // P6
  open({}, {.publish_bytes_queued_max = 100});
  EXPECT_FALSE(thread_->try_publish(publish_job(1)));
}

TEST_F(StoreThreadTest, AcceptsPublishesAgainAfterATurn) {
  open({}, {.publishes_queued_max = 1});
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(replies_.wait_for(1, 1));
  ASSERT_TRUE(thread_->try_publish(publish_job(2)));
  EXPECT_TRUE(replies_.wait_for(2, 2));
}

TEST_F(StoreThreadTest, AcceptsBytesAgainAfterATurn) {
  open({}, {.publish_bytes_queued_max = 600});  // Enough for one publish.
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(replies_.wait_for(1, 1));
  ASSERT_TRUE(thread_->try_publish(publish_job(2)));
  EXPECT_TRUE(replies_.wait_for(2, 2));
}

TEST_F(StoreThreadTest, ReportsALaneThatCannotBeLoaded) {
  open(test::fail_nth(0, test::StoreFault::lost));
  thread_->start();
  thread_->submit(LoadLaneJob{.worker = 0, .query = {.webhook_id = webhook_, .limit = 10}});
  ASSERT_TRUE(replies_.wait_for(1, 0));
  EXPECT_TRUE(std::holds_alternative<LaneLoadFailed>(replies_.inputs()[0]));
}

TEST_F(StoreThreadTest, SavesTheCircuitsOfAFailedCommitLater) {
  open(test::fail_nth(0, test::StoreFault::lost), {.recover_pause = 1ms});
  store_.webhooks.emplace(webhook_, Webhook{});
  save_circuit(CircuitState::open);
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(0, 1));
  ASSERT_TRUE(recovers());
  ASSERT_TRUE(run_idle_task());  // Runs after the commit of its turn.
  thread_->stop();
  ASSERT_TRUE(store_.circuits.contains(webhook_));
  EXPECT_EQ(store_.circuits.at(webhook_).state, CircuitState::open);
  EXPECT_NE(metrics_->text().find("postrider_store_failures_total 1\n"), std::string::npos);
}

TEST_F(StoreThreadTest, SavesTheLatestCircuitThatArrivedDuringAnOutage) {
  open_with_switch();
  WebhookId other{};
  other.bytes[15] = 1;
  store_.webhooks.emplace(webhook_, Webhook{});
  store_.webhooks.emplace(other, Webhook{});
  store_fails_ = true;
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(replies_.wait_for(0, 1));
  thread_->submit(CircuitJob{{other, {}}});
  save_circuit(CircuitState::open);
  ASSERT_TRUE(run_idle_task());
  save_circuit(CircuitState::half_open);
  ASSERT_TRUE(run_idle_task());
  store_fails_ = false;
  ASSERT_TRUE(recovers());
  ASSERT_TRUE(run_idle_task());
  thread_->stop();
  EXPECT_TRUE(store_.circuits.contains(other));
  ASSERT_TRUE(store_.circuits.contains(webhook_));
  EXPECT_EQ(store_.circuits.at(webhook_).state, CircuitState::half_open);
}

TEST_F(StoreThreadTest, CountsWaitingDeliveriesWhenItRecovers) {
  open(test::fail_nth(0, test::StoreFault::ambiguous), {.recover_pause = 1ms});
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(0, 1));
  ASSERT_TRUE(recovers());
  EXPECT_NE(metrics_->text().find("postrider_deliveries_waiting 1\n"), std::string::npos);
}

TEST_F(StoreThreadTest, StoresTheAuditEntriesOfRevivalsAndCancelsThatWorked) {
  open();
  store_.digest = test::test_digest;
  store_event(1);
  store_event(2);
  constexpr std::uint8_t unknown = 9;
  thread_->submit(revive_job(unknown, "delivery.retry_unknown"));
  thread_->submit(revive_job(1, "delivery.retry"));
  thread_->submit(cancel_job(unknown, "delivery.cancel_unknown"));
  thread_->submit(cancel_job(2, "delivery.cancel"));
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(2, 4));
  thread_->stop();
  EXPECT_EQ(accepted_, 2);
  EXPECT_EQ(refused_, 2);
  std::vector<std::string> actions;
  for (const AuditRecord& record : store_.audit) {
    actions.push_back(record.entry.action);
  }
  EXPECT_EQ(actions, (std::vector<std::string>{"delivery.retry", "delivery.cancel"}));
}

TEST_F(StoreThreadTest, FailsRevivalsAndCancelsOfAFailedCommit) {
  open(test::fail_nth(0, test::StoreFault::lost), {.worker_count = 2, .recover_pause = 1ms});
  ReviveJob revive = revive_job(1);
  revive.origin = 1;
  CancelJob cancel = cancel_job(2);
  cancel.origin = 1;
  thread_->submit(std::move(revive));
  thread_->submit(std::move(cancel));
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(0, 2));
  EXPECT_EQ(refused_, 2);
  EXPECT_EQ(replies_.completion_workers(), (std::vector<std::size_t>{1, 1}));
}

TEST_F(StoreThreadTest, RepliesToTheWorkerThatAsked) {
  open({}, {.worker_count = 2});
  store_.digest = test::test_digest;
  store_event(1);
  store_event(2);
  PublishJob publish = publish_job(3);
  publish.origin = 1;
  ASSERT_TRUE(thread_->try_publish(std::move(publish)));
  Settlement settlement;
  settlement.delivery.webhook_id = webhook_;
  thread_->submit(SettleJob{.worker = 1, .settlements = {settlement}});
  ReviveJob revive = revive_job(1);
  revive.origin = 1;
  thread_->submit(std::move(revive));
  CancelJob cancel = cancel_job(2);
  cancel.origin = 1;
  thread_->submit(std::move(cancel));
  thread_->submit(LoadLaneJob{.worker = 1, .query = {.webhook_id = webhook_, .limit = 10}});
  thread_->submit(
      LoadEventsJob{.worker = 1, .ids = {}, .done = [](const Result<std::vector<Event>>&) {}});
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(2, 4));
  thread_->stop();
  const std::vector<std::size_t> second{1};
  EXPECT_EQ(replies_.workers_with<Settled>(), second);
  EXPECT_EQ(replies_.workers_with<LaneLoaded>(), second);
  EXPECT_EQ(replies_.completion_workers(), (std::vector<std::size_t>{1, 1, 1, 1}));
}

TEST_F(StoreThreadTest, ReportsAFailedSettlementToItsWorker) {
  open(test::fail_nth(0, test::StoreFault::lost), {.worker_count = 2, .recover_pause = 1ms});
  Settlement settlement;
  settlement.delivery.webhook_id = webhook_;
  thread_->submit(SettleJob{.worker = 1, .settlements = {settlement}});
  thread_->start();
  ASSERT_TRUE(replies_.wait_for(1, 0));
  EXPECT_EQ(replies_.workers_with<StoreFailed>(), std::vector<std::size_t>{1});
}

TEST_F(StoreThreadTest, ReportsACommitBeforeItAnswers) {
  open();
  int answered_before = -1;
  owner_.on_committed = [&](const Batch& batch, const BatchReceipt& receipt) {
    answered_before = accepted_;
    EXPECT_EQ(batch.publishes.size(), 1u);
    EXPECT_EQ(receipt.publishes.size(), 1u);
  };
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->start();
  thread_->stop();
  EXPECT_EQ(answered_before, 0);
  EXPECT_EQ(accepted_, 1);
}

TEST_F(StoreThreadTest, StopFinishesQueuedJobs) {  // P10
  open();
  for (std::uint8_t number = 1; number <= 5; ++number) {
    ASSERT_TRUE(thread_->try_publish(publish_job(number)));
  }
  thread_->start();
  thread_->stop();
  EXPECT_EQ(store_.events.size(), 5u);
  EXPECT_EQ(accepted_, 5);
}

}  // namespace
}  // namespace postrider
