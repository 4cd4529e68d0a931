#include "runtime/background/retry_rescheduler.h"

#include <future>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime epoch = wall_from_unix_ms(1'750'000'000'000);

class StillClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override { return {epoch, {}}; }
};

/// A webhook whose deliveries wait for an hour, and a policy that lets them wait for a second.
class RetryReschedulerTest : public testing::Test {
 protected:
  void open(std::uint32_t waiting) {
    auto webhook = std::make_shared<Webhook>();
    webhook->id.bytes[15] = 1;
    webhook->retry.delay_base = 1s;
    webhook->retry.jitter = {};
    id_ = webhook->id;
    directory_ = std::make_shared<const Directory>(Directory{{webhook}});
    Publish publish;
    for (std::uint32_t i = 0; i < waiting; ++i) {
      Delivery delivery;
      delivery.id = DeliveryId{ids_.next(epoch)};
      delivery.webhook_id = id_;
      delivery.state = DeliveryState::retrying;
      delivery.due = epoch + 1h;
      delivery.attempt_count = 1;
      delivery.budget_used = 1;
      publish.deliveries.push_back(delivery);
    }
    Store store = make_memory_store(memory_);
    ASSERT_TRUE(store.ledger->commit({.publishes = {publish}}));
    ASSERT_TRUE(store.catalog->mark_rescheduling(id_));
    thread_ = std::make_unique<StoreThread>(
        StoreThreadOptions{},
        StoreThread::Parts{.store = std::move(store),
                           .clock = &clock_,
                           .metrics = metrics_.get(),
                           .send = [this](std::size_t, ShardReplies replies) { count(replies); },
                           .on_failure = [](const std::string&) {},
                           .on_recovered = [](const auto&, RepliesByShard&) {}});
    retry_rescheduler_.emplace(clock_, *thread_, [this] { return directory_; });
  }

  void count(const ShardReplies& replies) {
    for (const Input& input : replies.inputs) {
      const auto& rescheduled = std::get<Rescheduled>(input);
      EXPECT_EQ(rescheduled.webhook_id, id_);
      told_.push_back(rescheduled.deliveries.size());
    }
  }

  [[nodiscard]] std::size_t still_waiting_long() const {
    std::size_t count = 0;
    for (const auto& [sequence, record] : memory_.deliveries) {
      count += record.delivery.due == epoch + 1s ? 0 : 1;
    }
    return count;
  }

  MemoryStore memory_;
  StillClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  UuidMaker ids_{1};
  WebhookId id_;
  std::shared_ptr<const Directory> directory_;
  std::vector<std::size_t> told_;
  std::unique_ptr<StoreThread> thread_;
  std::optional<RetryRescheduler> retry_rescheduler_;
};

TEST_F(RetryReschedulerTest, MovesEverythingInStepsOfBoundedSizeAndTellsTheLane) {
  open(2 * rescheduled_at_once + 7);
  retry_rescheduler_->add(id_);
  thread_->start();
  thread_->stop();
  EXPECT_EQ(still_waiting_long(), 0u);
  EXPECT_EQ(told_, (std::vector<std::size_t>{rescheduled_at_once, rescheduled_at_once, 7}));
  EXPECT_TRUE(memory_.rescheduling.empty());
}

TEST_F(RetryReschedulerTest, EndsWithTheServerAndKeepsTheMarkForTheNextStart) {
  open(2 * rescheduled_at_once);
  retry_rescheduler_->add(id_);
  retry_rescheduler_->stop();
  thread_->start();
  thread_->stop();
  EXPECT_EQ(still_waiting_long(), rescheduled_at_once);
  EXPECT_EQ(memory_.rescheduling, std::set<WebhookId>{id_});
}

TEST_F(RetryReschedulerTest, AWebhookThatIsGoneIsForgotten) {
  open(1);
  directory_ = std::make_shared<const Directory>(Directory{{}});
  retry_rescheduler_->add_later(id_);
  thread_->start();
  thread_->stop();
  EXPECT_EQ(still_waiting_long(), 1u);
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace postrider
