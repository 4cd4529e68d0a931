#include "runtime/background/fanout_runner.h"

#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/faulty_ledger.h"
#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

constexpr WallTime epoch = wall_from_unix_ms(1'750'000'000'000);

/// Two tenants with webhooks. The shards take what they are given when the test says so.
class FanoutRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<WebhookRef> known;
    for (std::uint32_t i = 0; i < 2 * fanout_step_max + 7; ++i) {
      auto webhook = std::make_shared<Webhook>();
      webhook->id = id_of(i);
      known.push_back(webhook);
    }
    changes_.emplace(Directory{known}, AccessSnapshot{}, ChannelDirectory{});
    publisher_.emplace(hub_, *changes_, clock_);
  }

  static WebhookId id_of(std::uint32_t number) {
    WebhookId id;
    id.bytes[14] = static_cast<std::uint8_t>(number >> 8);
    id.bytes[15] = static_cast<std::uint8_t>(number);
    return id;
  }

  void open(Store store) {
    owner_.on_deliver = [this](std::size_t, ShardReplies replies) {
      for (const Input& input : replies.inputs) {
        for (const Delivery& delivery : std::get<Admitted>(input).deliveries) {
          ++admitted_[delivery.event_id];
        }
        order_.push_back(std::get<Admitted>(input).deliveries.front().event_id);
      }
      for (auto& done : replies.completions) {
        done();
      }
    };
    owner_.on_recovered = [this](const auto&, RepliesByShard&) { runner_->reload(); };
    thread_ = std::make_unique<StoreThread>(StoreThreadOptions{.recover_pause = Millis{1}},
                                            StoreThread::Parts{.store = std::move(store),
                                                               .clock = &clock_,
                                                               .metrics = metrics_.get(),
                                                               .owner = &owner_});
    runner_.emplace(FanoutBacklogLimits{.tenant_max = 1'000, .total_max = 2'000},
                    FanoutRunner::Parts{.clock = &clock_,
                                        .store = thread_.get(),
                                        .metrics = metrics_.get(),
                                        .changes = &*changes_,
                                        .stream = &*publisher_,
                                        .new_uuid = [this] { return ids_.next(epoch); }});
  }

  /// Stores an event with a note.
  EventId note(Ledger& ledger, const TenantId& tenant_id, std::uint32_t count) {
    Publish publish;
    publish.event.id = EventId{ids_.next(epoch)};
    publish.event.tenant_id = tenant_id;
    auto webhooks = std::make_shared<std::vector<WebhookId>>();
    for (std::uint32_t i = 0; i < count; ++i) {
      webhooks->push_back(id_of(i));
    }
    publish.fanout = Fanout{.webhooks = webhooks, .chosen = {}, .count = count, .due = epoch};
    EXPECT_TRUE(ledger.commit({.publishes = {publish}}).has_value());
    return publish.event.id;
  }

  /// Runs until nothing is left to do.
  void run() {
    thread_->start();
    while (runner_->remaining() > 0) {
      std::this_thread::yield();
    }
    thread_->stop();
  }

  MemoryStore memory_;
  test::ManualClock clock_{epoch};
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  UuidGenerator ids_{1};
  std::optional<AdminChanges> changes_;
  StreamHub hub_{{.epoch = 1}};
  std::optional<BatchStreamPublisher> publisher_;
  std::map<EventId, std::uint32_t> admitted_;
  std::vector<EventId> order_;
  test::FakeStoreOwner owner_;
  std::unique_ptr<StoreThread> thread_;
  std::optional<FanoutRunner> runner_;
};

TEST_F(FanoutRunnerTest, TellsTheStreamOncePerStepHowManyDeliveriesWereMade) {
  Store store = make_memory_store(memory_);
  note(*store.ledger, "giant", 2 * fanout_step_max + 7);
  const std::map<TenantId, std::uint64_t> fanouts = store.ledger->open_fanouts().value();
  auto subscription = hub_.subscribe({.tenant_id = "giant"}, std::nullopt, [] {});
  ASSERT_TRUE(subscription.has_value());
  open(std::move(store));
  runner_->add(fanouts);
  run();
  std::uint64_t told = 0;
  const StreamHub::Batch seen = (*subscription)->take();
  for (const StreamHub::Item& item : seen.items) {
    EXPECT_EQ(item.stream_event->at, epoch);
    told += std::get<DeliveriesCreated>(item.stream_event->what).count;
  }
  EXPECT_EQ(told, 2 * fanout_step_max + 7);
  EXPECT_EQ(seen.items.size(), order_.size()) << "one for each step";
  EXPECT_FALSE(seen.dropped);
}

TEST_F(FanoutRunnerTest, MakesAllDeliveriesInStepsAndTenantsTakeTurns) {
  Store store = make_memory_store(memory_);
  const EventId giant = note(*store.ledger, "giant", 2 * fanout_step_max + 7);
  const EventId small = note(*store.ledger, "small", 3);
  const std::map<TenantId, std::uint64_t> fanouts = store.ledger->open_fanouts().value();
  open(std::move(store));
  runner_->add(fanouts);
  EXPECT_EQ(runner_->remaining(), 2 * fanout_step_max + 10);
  run();
  EXPECT_EQ(admitted_[giant], 2 * fanout_step_max + 7);
  EXPECT_EQ(admitted_[small], 3u);
  EXPECT_EQ(order_, (std::vector<EventId>{giant, small, giant, giant}));
  EXPECT_TRUE(memory_.fanouts.empty());
  EXPECT_NE(metrics_->text().find("webhook_queue_depth{priority=\"normal\"} 1010"),
            std::string::npos);
}

TEST_F(FanoutRunnerTest, RefusesWhatWouldExceedTheLimits) {
  open(make_memory_store(memory_));
  EXPECT_EQ(runner_->admit("acme"), FanoutAdmission::accepted);
  runner_->add({{"acme", 1'000}});
  EXPECT_EQ(runner_->admit("acme"), FanoutAdmission::tenant_full);
  EXPECT_EQ(runner_->admit("other"), FanoutAdmission::accepted);
}

TEST_F(FanoutRunnerTest, StopsWithTheServerAndKeepsTheNotes) {
  Store store = make_memory_store(memory_);
  note(*store.ledger, "acme", 5);
  open(std::move(store));
  runner_->add({{"acme", 5}});
  runner_->stop();
  thread_->start();
  thread_->stop();
  EXPECT_TRUE(admitted_.empty());
  EXPECT_EQ(memory_.fanouts.size(), 1u);
}

TEST_F(FanoutRunnerTest, ContinuesAfterAStoreFailureWithWhatIsStored) {
  const EventId event = note(*make_memory_ledger(memory_), "acme", 2 * fanout_step_max);
  const auto real = make_memory_ledger(memory_);
  Store store = make_memory_store(memory_);
  // The first step is stored, although it fails.
  store.ledger =
      std::make_unique<test::FaultyLedger>(*real, test::fail_nth(0, test::StoreFault::ambiguous));
  open(std::move(store));
  runner_->add({{"acme", 2 * fanout_step_max}});
  run();
  EXPECT_EQ(admitted_[event], 2 * fanout_step_max - fanout_step_first)
      << "the others are loaded by their lanes";
  EXPECT_EQ(memory_.deliveries.size(), 2 * fanout_step_max);
}

}  // namespace
}  // namespace postrider
