// The store thread of one of several servers on a store.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "runtime/store/store_thread.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

using testing::ElementsAre;

class StoreThreadPeersTest : public testing::Test {
 protected:
  StoreThreadPeersTest() {
    owner_.on_committed = [this](const Batch& batch, const BatchReceipt&) {
      seen_ = batch.catalog_seen;
    };
    owner_.on_deliver = [this](std::size_t, ShardReplies replies) {
      for (const Input& input : replies.inputs) {
        if (const auto* const admitted = std::get_if<Admitted>(&input)) {
          for (const Delivery& delivery : admitted->deliveries) {
            admitted_.push_back(delivery.id.bytes[15]);
          }
        }
      }
      for (const std::function<void()>& completion : replies.completions) {
        completion();
      }
    };
    owner_.on_failed = [this](const std::string&) { failed_ = true; };
  }

  static Delivery delivery(std::uint8_t number) {
    Delivery made;
    made.id.bytes[15] = number;
    made.event_id.bytes[15] = number;
    return made;
  }

  void publish(std::uint8_t number, std::optional<CatalogVersion> seen = std::nullopt) {
    PublishJob job{.publishes = std::vector<Publish>(1),
                   .done =
                       [this](const Result<std::vector<PublishReceipt>>& result) {
                         accepted_ += result ? 1 : 0;
                       },
                   .catalog_seen = seen};
    job.publishes.front().event.id.bytes[15] = number;
    job.publishes.front().deliveries.push_back(delivery(number));
    ASSERT_TRUE(thread_.try_publish(std::move(job)));
  }

  /// Performs everything that was submitted, and ends.
  void run() {
    thread_.start();
    thread_.stop();
  }

  MemoryStore store_;
  test::ManualClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  test::FakeStoreOwner owner_;
  StoreThread thread_{{},
                      {.store = make_memory_store(store_),
                       .clock = &clock_,
                       .metrics = metrics_.get(),
                       .owner = &owner_}};
  std::optional<CatalogVersion> seen_;
  std::vector<int> admitted_;
  int accepted_ = 0;
  bool failed_ = false;
};

TEST_F(StoreThreadPeersTest, ABatchIsAsOldAsTheOldestPlanInIt) {
  publish(1, 7);
  publish(2, 5);
  publish(3);
  publish(4, 6);
  run();
  EXPECT_EQ(seen_, 5);
  EXPECT_EQ(accepted_, 4);
}

TEST_F(StoreThreadPeersTest, WithoutOtherServersTheVersionDoesNotMatter) {
  publish(1);
  run();
  EXPECT_EQ(seen_, std::nullopt);
}

TEST_F(StoreThreadPeersTest, WhatOtherServersStoredBeforeIsAdmittedFirst) {  // P4
  owner_.on_admission = [](RepliesByShard& replies) -> Result<void> {
    replies.front().inputs.emplace_back(Admitted{{delivery(1)}});
    return {};
  };
  publish(2);
  run();
  EXPECT_THAT(admitted_, ElementsAre(1, 2));
}

TEST_F(StoreThreadPeersTest, IfThatCannotBeReadNothingIsAdmittedAndTheStoreHasFailed) {
  owner_.on_admission = [](RepliesByShard&) { return fail(Errc::unavailable, "The network."); };
  publish(1);
  run();
  EXPECT_EQ(accepted_, 1) << "it is stored";
  EXPECT_TRUE(admitted_.empty());
  EXPECT_TRUE(failed_);
}

}  // namespace
}  // namespace postrider
