#include "runtime/store/store_thread.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/faulty_ledger.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

class StillClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override { return {wall_from_unix_ms(1'750'000'000'000), {}}; }
};

/// The io threads' side: what arrived, in order.
class Letterbox {
 public:
  void put(ShardReplies replies) {
    const std::lock_guard lock{mutex_};
    for (Input& input : replies.inputs) {
      inputs_.push_back(std::move(input));
    }
    for (std::function<void()>& completion : replies.completions) {
      completion();
      ++completions_;
    }
    arrived_.notify_all();
  }

  /// False when it did not happen in time.
  [[nodiscard]] bool wait_for(std::size_t inputs, std::size_t completions) {
    std::unique_lock lock{mutex_};
    return arrived_.wait_for(
        lock, 10s, [&] { return inputs_.size() >= inputs && completions_ >= completions; });
  }

  [[nodiscard]] std::vector<Input> inputs() {
    const std::lock_guard lock{mutex_};
    return inputs_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Input> inputs_;
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
    thread_ = std::make_unique<StoreThread>(
        options,
        StoreThread::Parts{
            .store = std::move(store),
            .clock = &clock_,
            .metrics = metrics_.get(),
            .send = [this](std::size_t, ShardReplies replies) { letters_.put(std::move(replies)); },
            .on_failure = [this](const std::string&) { ++failures_; },
            .on_recovered = [this](const std::vector<LaneBacklog>& backlog,
                                   RepliesByShard&) { recovered_backlog_ = backlog.size(); },
            .on_streak =
                [this](std::uint32_t count) {
                  const std::lock_guard lock{streaks_mutex_};
                  streaks_.push_back(count);
                }});
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
  StillClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  Letterbox letters_;
  std::unique_ptr<Ledger> real_;
  std::unique_ptr<StoreThread> thread_;
  WebhookId webhook_{};
  int accepted_ = 0;
  int refused_ = 0;
  std::atomic<int> failures_ = 0;
  std::atomic<std::size_t> recovered_backlog_ = 0;
  std::mutex streaks_mutex_;
  std::vector<std::uint32_t> streaks_;  // Guarded by streaks_mutex_.
};

TEST_F(StoreThreadTest, AnswersAPublishOnceItIsStoredAndTellsTheLane) {
  open();
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(letters_.wait_for(1, 1));
  EXPECT_EQ(accepted_, 1);
  EXPECT_EQ(store_.events.size(), 1u);
  const std::vector<Input> inputs = letters_.inputs();
  EXPECT_EQ(std::get<Admitted>(inputs[0]).deliveries.size(), 1u);
}

TEST_F(StoreThreadTest, CommitsWhatQueuedUpAsOneTransactionAndTellsOnce) {
  open();
  for (std::uint8_t number = 1; number <= 20; ++number) {
    ASSERT_TRUE(thread_->try_publish(publish_job(number)));
  }
  thread_->start();
  ASSERT_TRUE(letters_.wait_for(1, 20));
  const std::vector<Input> inputs = letters_.inputs();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(std::get<Admitted>(inputs[0]).deliveries.size(), 20u);
  EXPECT_NE(metrics_->text().find("postrider_store_commit_seconds_count 1"), std::string::npos);
}

TEST_F(StoreThreadTest, RefusesToQueueMoreThanItMayHold) {  // P6
  open({}, {.publishes_queued_max = 2});
  EXPECT_TRUE(thread_->try_publish(publish_job(1)));
  EXPECT_TRUE(thread_->try_publish(publish_job(2)));
  PublishJob third = publish_job(3);
  EXPECT_FALSE(thread_->try_publish(std::move(third)));
  EXPECT_TRUE(third.done) << "a refused job is as it was";
  thread_->start();
  ASSERT_TRUE(letters_.wait_for(1, 2));
  EXPECT_EQ(store_.events.size(), 2u);
}

TEST_F(StoreThreadTest, AnswersLoadsAfterTheCommitsBeforeThem) {
  open();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->submit(LoadLaneJob{
      .worker = 0,
      .query = {.webhook_id = webhook_, .due_before = wall_from_unix_ms(1), .limit = 10}});
  thread_->start();
  ASSERT_TRUE(letters_.wait_for(2, 1));
  const std::vector<Input> inputs = letters_.inputs();
  EXPECT_TRUE(std::holds_alternative<Admitted>(inputs[0]));
  EXPECT_EQ(std::get<LaneLoaded>(inputs[1]).deliveries.size(), 1u);
}

TEST_F(StoreThreadTest, AFailedCommitRefusesEverybodyAndRecoversByItself) {  // P1
  open(test::fail_nth(0, test::StoreFault::ambiguous), {.recover_pause = 1ms});
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  Settlement settlement;
  settlement.delivery.webhook_id = webhook_;
  thread_->submit(SettleJob{.worker = 0, .settlements = {settlement}});
  thread_->start();
  ASSERT_TRUE(letters_.wait_for(1, 1));
  EXPECT_EQ(refused_, 1);
  EXPECT_TRUE(std::holds_alternative<StoreFailed>(letters_.inputs()[0]));
  EXPECT_EQ(failures_, 1);

  // It may be stored after all: the lanes are told to look, and the store serves again.
  for (int i = 0; i < 1000 && thread_->failure(); ++i) {
    std::this_thread::yield();
    (void)letters_.wait_for(0, 0);
  }
  thread_->submit(LoadLaneJob{
      .worker = 0,
      .query = {.webhook_id = webhook_, .due_before = wall_from_unix_ms(1), .limit = 10}});
  ASSERT_TRUE(letters_.wait_for(2, 1));
  EXPECT_EQ(recovered_backlog_, 1u);
  EXPECT_EQ(thread_->failure(), std::nullopt);
}

TEST_F(StoreThreadTest, ALaneHearsOfARevivalThatItsSettlementFound) {
  open();
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(letters_.wait_for(1, 1));
  Settlement death;
  death.delivery = std::get<Admitted>(letters_.inputs()[0]).deliveries.front();
  death.delivery.state = DeliveryState::dead_letter;
  Revive revive{.delivery_id = death.delivery.id, .now = clock_.now().wall, .priority = {}};
  thread_->submit(ReviveJob{
      .revive = revive, .audit = {}, .origin = 0, .done = [](const Result<Delivery>&) {}});
  ASSERT_TRUE(letters_.wait_for(2, 2));
  thread_->submit(SettleJob{.worker = 0, .settlements = {death}});
  ASSERT_TRUE(letters_.wait_for(4, 2));
  const std::vector<Input> inputs = letters_.inputs();
  EXPECT_TRUE(std::holds_alternative<Settled>(inputs[2]));
  EXPECT_EQ(std::get<Admitted>(inputs[3]).deliveries.front().revivals, 1u);
}

TEST_F(StoreThreadTest, DeadLettersAreCountedWhereTheyAreStored) {
  open();
  thread_->start();
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  ASSERT_TRUE(letters_.wait_for(1, 1));
  Settlement death;
  death.delivery = std::get<Admitted>(letters_.inputs()[0]).deliveries.front();
  death.delivery.state = DeliveryState::dead_letter;
  thread_->submit(SettleJob{.worker = 0, .settlements = {death, death}});
  ASSERT_TRUE(letters_.wait_for(2, 1));
  EXPECT_NE(metrics_->text().find("webhook_dlq_size{tenant_id=\"\"} 1\n"), std::string::npos);
  Revive revive{.delivery_id = death.delivery.id, .now = clock_.now().wall, .priority = {}};
  thread_->submit(ReviveJob{
      .revive = revive, .audit = {}, .origin = 0, .done = [](const Result<Delivery>&) {}});
  ASSERT_TRUE(letters_.wait_for(3, 2));
  EXPECT_NE(metrics_->text().find("webhook_dlq_size{tenant_id=\"\"} 0\n"), std::string::npos);
}

TEST_F(StoreThreadTest, FailuresInARowAreCountedUntilSomethingIsWritten) {
  // The commit fails, the store cannot be opened twice, then all is well.
  const test::StoreFaultPlan plan = [](std::uint64_t call) {
    return call < 3 ? std::optional{test::StoreFault::lost} : std::nullopt;
  };
  open(plan, {.recover_pause = 1ms});
  ASSERT_TRUE(thread_->try_publish(publish_job(1)));
  thread_->start();
  ASSERT_TRUE(letters_.wait_for(0, 1));
  for (int i = 0; i < 100'000 && thread_->failure(); ++i) {
    std::this_thread::yield();
  }
  ASSERT_EQ(thread_->failure(), std::nullopt);
  ASSERT_TRUE(thread_->try_publish(publish_job(2)));
  ASSERT_TRUE(thread_->try_publish(publish_job(3)));
  ASSERT_TRUE(letters_.wait_for(1, 3));
  thread_->stop();
  EXPECT_EQ(streaks_, (std::vector<std::uint32_t>{1, 2, 3, 0}));
}

TEST_F(StoreThreadTest, StopFinishesWhatIsQueued) {  // P10
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
