#include "runtime/background/removed_webhook_cleanup.h"

#include <future>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class StillClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override { return {wall_from_unix_ms(1'750'000'000'000), {}}; }
};

/// A catalog that counts its steps and fails when told to. Everything else is not asked for.
class CountingCatalog final : public Catalog {
 public:
  explicit CountingCatalog(std::map<WebhookId, std::uint32_t> waiting)
      : waiting_(std::move(waiting)) {}

  Result<std::uint32_t> cancel_waiting(WebhookId id, WallTime, std::uint32_t limit) override {
    ++steps;
    if (failures_left > 0) {
      --failures_left;
      return fail(Errc::unavailable, "no");
    }
    const std::uint32_t taken = std::min(limit, waiting_[id]);
    waiting_[id] -= taken;
    return taken;
  }
  [[nodiscard]] std::uint32_t left(WebhookId id) const { return waiting_.at(id); }

  Result<std::vector<Webhook>> load_webhooks() override { return std::vector<Webhook>{}; }
  Result<void> put_webhook(const Webhook&) override { return {}; }
  Result<void> remove_webhook(WebhookId) override { return {}; }
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
    thread_ = std::make_unique<StoreThread>(
        StoreThreadOptions{},
        StoreThread::Parts{.store = std::move(store),
                           .clock = &clock_,
                           .metrics = metrics_.get(),
                           .send = [](std::size_t, ShardReplies) {},
                           .on_failure = [](const std::string&) {},
                           .on_recovered = [](const auto&, RepliesByShard&) {}});
    removed_webhook_cleanup_.emplace(clock_, *thread_, *metrics_);
  }

  /// Runs on the store thread, behind what is queued by now.
  void there(const std::function<void()>& act) {
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
  StillClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  CountingCatalog* catalog_ = nullptr;
  std::unique_ptr<StoreThread> thread_;
  std::optional<RemovedWebhookCleanup> removed_webhook_cleanup_;
};

TEST_F(RemovedWebhookCleanupTest, CancelsEverythingInStepsOfBoundedSize) {
  open({{webhook(1), 3 * cancelled_at_once}, {webhook(2), 1}});
  removed_webhook_cleanup_->add(webhook(1));
  removed_webhook_cleanup_->add(webhook(2));
  metrics_->waiting_counted(3 * cancelled_at_once + 1 + 7);
  thread_->start();
  thread_->stop();
  EXPECT_EQ(catalog_->left(webhook(1)), 0u);
  EXPECT_EQ(catalog_->left(webhook(2)), 0u);
  EXPECT_EQ(metrics_->facts(0).waiting, 7) << "what waits is counted along";
  EXPECT_EQ(catalog_->steps, 5)
      << "three full steps, one that finds nothing, and the other webhook";
}

TEST_F(RemovedWebhookCleanupTest, LetsOtherWorkPassBetweenItsSteps) {
  open({{webhook(1), 1'000 * cancelled_at_once}});
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

TEST_F(RemovedWebhookCleanupTest, GoesOnAfterAFailureWhenAskedTo) {
  open({{webhook(1), 1}});
  catalog_->failures_left = 1;
  thread_->start();
  there([&] { removed_webhook_cleanup_->add(webhook(1)); });
  there([] {});
  EXPECT_EQ(catalog_->left(webhook(1)), 1u);
  there([&] { removed_webhook_cleanup_->go_on(); });
  there([] {});
  EXPECT_EQ(catalog_->left(webhook(1)), 0u);
}

TEST_F(RemovedWebhookCleanupTest, EndsWithTheServerAndLeavesTheRestToTheNextStart) {
  open({{webhook(1), 1'000'000 * cancelled_at_once}});
  thread_->start();
  there([&] { removed_webhook_cleanup_->add(webhook(1)); });
  removed_webhook_cleanup_->stop();
  thread_->stop();
  EXPECT_GT(catalog_->left(webhook(1)), 0u);
}

}  // namespace
}  // namespace postrider
