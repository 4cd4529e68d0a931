#include "runtime/background/retry_rescheduler.h"

#include <future>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/faulty_ledger.h"
#include "tests/support/manual_clock.h"
#include "tests/support/test_digest.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime epoch = wall_from_unix_ms(1'750'000'000'000);

/// A webhook whose deliveries wait for an hour, and a policy that lets them wait for a second.
class RetryReschedulerTest : public testing::Test {
 protected:
  enum class Known : bool { no, yes };
  void open(std::uint32_t waiting, Known known = Known::yes) {
    clock_.jump_wall(10h);  // What is due follows the steady time instead.
    auto webhook = std::make_shared<Webhook>();
    webhook->id.bytes[15] = 1;
    webhook->retry.delay_base = 1s;
    webhook->retry.jitter = {};
    id_ = webhook->id;
    const auto lost = std::make_shared<Webhook>();  // Its turn comes first.
    lost_ = lost->id;
    changes_.emplace(known == Known::yes ? Directory{{lost, webhook}} : Directory{},
                     AccessSnapshot{}, ChannelDirectory{});
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
    real_ledger_ = std::move(store.ledger);
    auto ledger = std::make_unique<test::FaultyLedger>(*real_ledger_,
                                                       [](std::uint64_t) { return std::nullopt; });
    ledger->of_others.insert(lost_);
    store.ledger = std::move(ledger);
    owner_.on_deliver = [this](std::size_t, const ShardReplies& replies) { count(replies); };
    thread_ = std::make_unique<StoreThread>(StoreThreadOptions{},
                                            StoreThread::Parts{.store = std::move(store),
                                                               .clock = &clock_,
                                                               .metrics = metrics_.get(),
                                                               .owner = &owner_});
    retry_rescheduler_.emplace(clock_, *thread_, *changes_);
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
  test::ManualClock clock_{epoch};
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  UuidGenerator ids_{1};
  WebhookId id_;
  WebhookId lost_;  // Another server works it.
  std::unique_ptr<Ledger> real_ledger_;
  std::optional<AdminChanges> changes_;
  std::vector<std::size_t> told_;
  test::FakeStoreOwner owner_;
  std::unique_ptr<StoreThread> thread_;
  std::optional<RetryRescheduler> retry_rescheduler_;
};

TEST_F(RetryReschedulerTest, MovesAllDeliveriesInBoundedStepsAndTellsTheLane) {
  open(2 * reschedule_step_max + 7);
  retry_rescheduler_->add(id_);
  thread_->start();
  thread_->stop();
  EXPECT_EQ(still_waiting_long(), 0u);
  EXPECT_EQ(told_, (std::vector<std::size_t>{reschedule_step_max, reschedule_step_max, 7}));
  EXPECT_TRUE(memory_.rescheduling.empty());
}

TEST_F(RetryReschedulerTest, StopsWithTheServerAndKeepsTheMarkForTheNextStart) {
  open(2 * reschedule_step_max);
  retry_rescheduler_->add(id_);
  retry_rescheduler_->stop();
  thread_->start();
  thread_->stop();
  EXPECT_EQ(still_waiting_long(), reschedule_step_max);
  EXPECT_EQ(memory_.rescheduling, std::set<WebhookId>{id_});
}

TEST_F(RetryReschedulerTest, StartsOverWhenThePolicyChangesAgain) {
  open(2 * reschedule_step_max);
  memory_.digest = test::test_digest;
  retry_rescheduler_->add(id_);
  // Runs between the first and the second step.
  thread_->submit(StoreTask{[this](Store& store, RepliesByShard& replies) -> Result<void> {
    const AuditEntry entry;
    const auto edit = [](const Webhook& current) -> Result<Webhook> {
      Webhook edited = current;
      edited.retry.delay_base = 500ms;
      return edited;
    };
    EXPECT_TRUE(
        changes_->edit_webhook({store, replies, entry}, id_, edit, std::nullopt).has_value());
    replies[0].inputs.clear();
    retry_rescheduler_->add(id_);
    return {};
  }});
  thread_->start();
  thread_->stop();
  for (const auto& [sequence, record] : memory_.deliveries) {
    EXPECT_EQ(record.delivery.due, epoch + 500ms);
  }
}

/// It finds the mark.
TEST_F(RetryReschedulerTest, LeavesAWebhookToTheServerThatWorksItNow) {
  open(reschedule_step_max + 7);
  memory_.rescheduling.insert(lost_);
  retry_rescheduler_->add(lost_);
  retry_rescheduler_->add(id_);
  thread_->start();
  thread_->stop();
  EXPECT_EQ(still_waiting_long(), 0u);
  EXPECT_EQ(memory_.rescheduling, std::set<WebhookId>{lost_});
}

TEST_F(RetryReschedulerTest, ForgetsARemovedWebhook) {
  open(1, Known::no);
  retry_rescheduler_->add_later(id_);
  thread_->start();
  thread_->stop();
  EXPECT_EQ(still_waiting_long(), 1u);
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace postrider
