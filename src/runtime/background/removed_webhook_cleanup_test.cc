#include "runtime/background/removed_webhook_cleanup.h"

#include <future>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

/// A catalog that counts its steps and fails when told to. Other calls do nothing.
class CountingCatalog final : public Catalog {
 public:
  explicit CountingCatalog(std::map<WebhookId, std::uint32_t> waiting)
      : waiting_(std::move(waiting)) {}

  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime, std::uint32_t limit) override {
    ++steps;
    if (failures_left > 0) {
      --failures_left;
      return fail(Errc::unavailable, "no");
    }
    const std::uint32_t taken = std::min(limit, waiting_[id]);
    waiting_[id] -= taken;
    return TenantCounts{{{"acme", {{0, taken, 0}}}}};
  }
  [[nodiscard]] std::uint32_t left(WebhookId id) const { return waiting_.at(id); }

  Result<std::vector<Webhook>> load_webhooks() override { return std::vector<Webhook>{}; }
  Result<std::optional<Webhook>> find_webhook(WebhookId id) override {
    return id == stored ? std::optional{Webhook{}} : std::nullopt;
  }
  Result<void> put_webhook(const Webhook&) override { return {}; }
  Result<void> remove_webhook(WebhookId, WallTime) override { return {}; }
  Result<void> mark_rescheduling(WebhookId) override { return {}; }
  Result<std::vector<WebhookId>> load_rescheduling() override { return std::vector<WebhookId>{}; }
  Result<ResealStep> reseal_webhooks(std::optional<WebhookId>, std::uint32_t) override {
    return ResealStep{};
  }
  Result<std::map<WebhookId, CircuitRecord>> load_circuits() override {
    return std::map<WebhookId, CircuitRecord>{};
  }

  int steps = 0;
  int failures_left = 0;
  std::optional<WebhookId> stored;  // This one is not removed.

 private:
  std::map<WebhookId, std::uint32_t> waiting_;
};

class RemovedWebhookCleanupTest : public testing::Test {
 protected:
  void open(std::map<WebhookId, std::uint32_t> waiting) {
    auto catalog = std::make_unique<CountingCatalog>(std::move(waiting));
    catalog_ = catalog.get();
    Store store = make_memory_store(memory_);
    store.catalog = std::move(catalog);
    thread_ = std::make_unique<StoreThread>(StoreThreadOptions{},
                                            StoreThread::Parts{.store = std::move(store),
                                                               .clock = &clock_,
                                                               .metrics = metrics_.get(),
                                                               .owner = &owner_});
    removed_webhook_cleanup_.emplace(clock_, *thread_, *metrics_);
  }

  /// Runs `act` on the store thread, after the jobs that are queued by now.
  void on_store(const std::function<void()>& act) {
    std::promise<void> done;
    thread_->submit(StoreTask{[&](Store&, RepliesByShard&) -> Result<void> {
      act();
      done.set_value();
      return {};
    }});
    done.get_future().wait();
  }

  [[nodiscard]] static WebhookId webhook(std::uint8_t number) {
    WebhookId id{};
    id.bytes[15] = number;
    return id;
  }

  MemoryStore memory_;
  test::ManualClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  CountingCatalog* catalog_ = nullptr;
  test::FakeStoreOwner owner_;
  std::unique_ptr<StoreThread> thread_;
  std::optional<RemovedWebhookCleanup> removed_webhook_cleanup_;
};

TEST_F(RemovedWebhookCleanupTest, CancelsAllDeliveriesInBoundedSteps) {
  open({{webhook(1), 3 * cancel_step_max}, {webhook(2), 1}});
  removed_webhook_cleanup_->add(webhook(1));
  removed_webhook_cleanup_->add(webhook(2));
  metrics_->waiting_counted({{{"acme", {{0, 3 * cancel_step_max + 1 + 7, 0}}}}});
  thread_->start();
  thread_->stop();
  EXPECT_EQ(catalog_->left(webhook(1)), 0u);
  EXPECT_EQ(catalog_->left(webhook(2)), 0u);
  EXPECT_EQ(metrics_->facts(0).waiting, 7) << "what waits is counted along";
  EXPECT_EQ(metrics_->current_load("acme").waiting, 7);
  EXPECT_EQ(catalog_->steps, 5)
      << "three full steps, one that finds nothing, and the other webhook";
}

TEST_F(RemovedWebhookCleanupTest, LetsOtherJobsRunBetweenItsSteps) {
  open({{webhook(1), 1'000 * cancel_step_max}});
  int steps_before = 0;
  removed_webhook_cleanup_->add(webhook(1));
  thread_->submit(StoreTask{[&](Store&, RepliesByShard&) -> Result<void> {
    steps_before = catalog_->steps;
    return {};
  }});
  thread_->start();
  thread_->stop();
  EXPECT_EQ(steps_before, 1) << "what came after the first step did not wait for the second";
  EXPECT_EQ(catalog_->left(webhook(1)), 0u);
}

TEST_F(RemovedWebhookCleanupTest, ResumesAfterAFailure) {
  open({{webhook(1), 1}});
  catalog_->failures_left = 1;
  thread_->start();
  on_store([&] { removed_webhook_cleanup_->add(webhook(1)); });
  on_store([] {});
  EXPECT_EQ(catalog_->left(webhook(1)), 1u);
  on_store([&] { removed_webhook_cleanup_->resume(); });
  on_store([] {});
  EXPECT_EQ(catalog_->left(webhook(1)), 0u);
}

TEST_F(RemovedWebhookCleanupTest, AWebhookThatAnotherServerHasAddedKeepsItsDeliveries) {
  open({{webhook(1), 1}, {webhook(2), 1}});
  catalog_->stored = webhook(1);
  thread_->start();
  on_store([&] {
    removed_webhook_cleanup_->add(webhook(1));
    removed_webhook_cleanup_->add(webhook(2));
  });
  thread_->stop();
  EXPECT_EQ(catalog_->left(webhook(1)), 1u);
  EXPECT_EQ(catalog_->left(webhook(2)), 0u);
}

TEST_F(RemovedWebhookCleanupTest, StopsWithTheServerAndLeavesTheRestToTheNextStart) {
  open({{webhook(1), 1'000'000 * cancel_step_max}});
  thread_->start();
  on_store([&] { removed_webhook_cleanup_->add(webhook(1)); });
  removed_webhook_cleanup_->stop();
  thread_->stop();
  EXPECT_GT(catalog_->left(webhook(1)), 0u);
}

}  // namespace
}  // namespace postrider
