// How much the store thread commits in one transaction.
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "runtime/store/store_thread.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/faulty_ledger.h"
#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

using testing::ElementsAre;

class StoreThreadTurnsTest : public testing::Test {
 protected:
  StoreThreadTurnsTest() {
    owner_.on_committed = [this](const Batch& batch, const BatchReceipt&) {
      std::size_t deliveries = 0;
      for (const Publish& publish : batch.publishes) {
        deliveries += publish.deliveries.size();
      }
      committed_.push_back(deliveries);
    };
    owner_.on_deliver = [](std::size_t, ShardReplies replies) {
      for (const std::function<void()>& completion : replies.completions) {
        completion();
      }
    };
  }

  void open(StoreThreadOptions options, test::StoreFaultPlan plan = {}) {
    Store store = make_memory_store(store_);
    if (plan) {
      store.ledger = std::make_unique<test::FaultyLedger>(*real_, std::move(plan));
    }
    thread_ = std::make_unique<StoreThread>(options, StoreThread::Parts{.store = std::move(store),
                                                                        .clock = &clock_,
                                                                        .metrics = metrics_.get(),
                                                                        .owner = &owner_});
  }

  /// One request: so many events of one group, with so many deliveries each.
  bool publish(std::size_t events, std::size_t deliveries) {
    PublishJob job;
    for (std::size_t i = 0; i < events; ++i) {
      Publish publish;
      publish.event.id = EventId{ids_.next({})};
      publish.atomic_group = 1;
      for (std::size_t n = 0; n < deliveries; ++n) {
        publish.deliveries.push_back(
            new_delivery(publish.event, WebhookId{ids_.next({})}, DeliveryId{ids_.next({})}, {}));
      }
      job.publishes.push_back(std::move(publish));
    }
    job.done = [this](const Result<std::vector<PublishReceipt>>& result) {
      answers_.push_back(result.has_value());
    };
    return thread_->try_publish(std::move(job));
  }

  /// Performs everything that was submitted, and ends.
  void run() {
    thread_->start();
    thread_->stop();
  }

  MemoryStore store_;
  std::unique_ptr<Ledger> real_ = make_memory_ledger(store_);
  test::ManualClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  test::FakeStoreOwner owner_;
  UuidGenerator ids_{1};
  std::vector<std::size_t> committed_;  // Deliveries of each transaction.
  std::vector<bool> answers_;
  std::unique_ptr<StoreThread> thread_;
};

TEST_F(StoreThreadTurnsTest, ATransactionAddsABoundedNumberOfDeliveries) {
  open({.turn_deliveries_max = 1'000});
  for (int request = 0; request < 25; ++request) {
    ASSERT_TRUE(publish(1, 100));
  }
  run();
  EXPECT_THAT(committed_, ElementsAre(1'000, 1'000, 500));
  EXPECT_EQ(answers_, std::vector<bool>(25, true));
  EXPECT_EQ(store_.deliveries.size(), 2'500u);
}

TEST_F(StoreThreadTurnsTest, ARequestIsNotDivided) {
  open({.turn_deliveries_max = 10});
  ASSERT_TRUE(publish(1, 4));
  ASSERT_TRUE(publish(2, 4));
  ASSERT_TRUE(publish(3, 4));
  ASSERT_TRUE(publish(2, 0));
  run();
  EXPECT_THAT(committed_, ElementsAre(4, 8, 12, 0));
}

TEST_F(StoreThreadTurnsTest, OtherJobsRunBetweenTheTransactionsInTheirOrder) {
  open({.turn_deliveries_max = 1});
  std::vector<std::size_t> answered;
  const auto look = [&] {
    thread_->submit(StoreTask{[&](Store&, RepliesByShard&) -> Result<void> {
      answered.push_back(answers_.size());
      return {};
    }});
  };
  ASSERT_TRUE(publish(1, 1));
  look();
  ASSERT_TRUE(publish(1, 1));
  look();
  run();
  EXPECT_THAT(answered, ElementsAre(1, 2));
}

TEST_F(StoreThreadTurnsTest, WhatWaitsForAnotherTurnCountsForTheQueue) {  // P6
  open({.publishes_queued_max = 2, .turn_deliveries_max = 1});
  ASSERT_TRUE(publish(1, 1));
  ASSERT_TRUE(publish(1, 1));
  ASSERT_FALSE(publish(1, 1));
  std::vector<bool> accepted;
  owner_.on_committed = [&](const Batch&, const BatchReceipt&) {
    if (accepted.size() < 2) {  // The first transaction has made room for one.
      accepted.push_back(publish(1, 1));
      accepted.push_back(publish(1, 1));
    }
  };
  run();
  EXPECT_THAT(accepted, ElementsAre(true, false));
}

TEST_F(StoreThreadTurnsTest, AFailedStoreAnswersEverythingAtOnce) {
  bool fails = true;
  open({.turn_deliveries_max = 1, .recover_pause = Millis{1}},
       [&](std::uint64_t) { return fails ? std::optional{test::StoreFault::lost} : std::nullopt; });
  for (int request = 0; request < 5; ++request) {
    ASSERT_TRUE(publish(1, 1));
  }
  std::size_t turns = 0;
  owner_.on_deliver = [&, before = owner_.on_deliver](std::size_t worker, ShardReplies replies) {
    ++turns;
    before(worker, std::move(replies));
    fails = answers_.size() < 5;
  };
  run();
  EXPECT_EQ(answers_, std::vector<bool>(5, false));
  EXPECT_EQ(turns, 2u) << "the transaction that failed, and all that waited behind it";
}

}  // namespace
}  // namespace postrider
