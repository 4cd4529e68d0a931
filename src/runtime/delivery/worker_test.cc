#include "runtime/delivery/worker.h"

#include <future>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "runtime/limits/shared_allowance.h"
#include "runtime/store/outdated_publish.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/faulty_ledger.h"
#include "tests/support/manual_clock.h"
#include "tests/support/scripted_transport.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using Waited = Result<std::optional<Settlement>>;

constexpr auto no_faults = [](std::uint64_t) { return std::optional<test::StoreFault>{}; };

/// One worker with a store thread over the memory store.
class WorkerTest : public testing::Test, private ShardOwner {
 protected:
  void open(StoreThreadOptions store_options = {}, test::StoreFaultPlan faults = {},
            std::uint32_t outdated = 0) {
    owner_.on_deliver = [this](std::size_t, ShardReplies replies) {
      worker_->receive(std::move(replies));
    };
    Store store = make_memory_store(memory_);
    real_ledger_ = make_memory_ledger(memory_);
    if (faults) {
      store.ledger =
          std::make_unique<test::FaultyLedger>(*real_ledger_, std::move(faults), outdated);
    }
    store_.emplace(store_options, StoreThread::Parts{.store = std::move(store),
                                                     .clock = &clock_,
                                                     .metrics = metrics_.get(),
                                                     .owner = &owner_});
    worker_.emplace(ShardHostOptions{.user_agent = "test"}, parts());
    ASSERT_TRUE(worker_->open());
    webhook_.url = "https://a.example/";
    webhook_.retry.delay_base = Millis{1};
    webhook_.retry.category_minimums = false;
    worker_->feed_later(WebhookChanged{.webhook = std::make_shared<const Webhook>(webhook_)});
  }
  void start() {
    store_->start();
    worker_->start();
  }
  void TearDown() override {
    if (store_) {
      store_->stop();
      worker_->stop();
    }
  }

  [[nodiscard]] WorkerParts parts() {
    return {.clock = clock_,
            .store = *store_,
            .allowance = allowance_.of(0),
            .owner = *this,
            .metrics = *metrics_,
            .stream = stream_,
            .make_transport =
                [this](boost::asio::io_context& io, const Clock&) {
                  return Result<std::unique_ptr<Transport>>{
                      std::make_unique<test::ScriptedTransport>(io, receivers_)};
                },
            .make_sign =
                [](SignatureScheme, const Secret<std::string>&) {
                  return [](std::string_view, std::string_view) { return std::string{}; };
                }};
  }

  /// An event with its delivery to the webhook.
  [[nodiscard]] Publish make_publish(std::uint8_t number) const {
    Publish publish;
    publish.event.id.bytes[15] = number;
    publish.event.type = "order.paid";
    publish.event.data = "{}";
    publish.deliveries.resize(1);
    publish.deliveries.front().id.bytes[15] = number;
    publish.deliveries.front().event_id = publish.event.id;
    publish.deliveries.front().webhook_id = webhook_.id;
    publish.deliveries.front().due = clock_.now().steady;
    return publish;
  }
  [[nodiscard]] std::future<Waited> send_test(Millis patience) {
    const auto waited = std::make_shared<std::promise<Waited>>();
    worker_->send_test({.publish = make_publish(1),
                        .patience = patience,
                        .done = [waited](Waited result) { waited->set_value(std::move(result)); }});
    return waited->get_future();
  }

  MemoryStore memory_;
  test::ManualClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  StreamHub stream_{StreamOptions{}};
  SharedAllowance allowance_{AllowanceLimits{}, 1, [](std::size_t, const SlotReserved&) {}};
  test::ScriptedReceivers receivers_;
  test::FakeStoreOwner owner_;
  std::unique_ptr<Ledger> real_ledger_;
  std::optional<StoreThread> store_;
  std::optional<Worker> worker_;
  Webhook webhook_;
  std::atomic<int> drained_ = 0;

 private:
  void disable_webhook(WebhookId, const std::string&) override {}
  void reschedule(WebhookId) override {}
  void alert_changed(const AlertChange&) override {}
  void circuit_command_returned(const CircuitCommanded&) override {}
  void shard_handed_back(ShardNumber) override {}
  void shard_drained() override { ++drained_; }
};

TEST_F(WorkerTest, ReportsATransportThatCannotBeMade) {
  open();
  WorkerParts broken = parts();
  broken.make_transport = [](boost::asio::io_context&, const Clock&) {
    return Result<std::unique_ptr<Transport>>{fail(Errc::unavailable, "No certificates.")};
  };
  Worker worker{{}, std::move(broken)};
  const Result<void> opened = worker.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "No certificates.");
}

TEST_F(WorkerTest, ReturnsTheStoredAttemptOfATest) {
  open();
  start();
  receivers_.answer("a.example", 204);
  const Waited waited = send_test(1min).get();
  ASSERT_TRUE(waited && *waited);
  EXPECT_EQ((*waited)->attempt->outcome.http_status, 204);
  EXPECT_EQ(memory_.attempts.size(), 1u);
}

TEST_F(WorkerTest, EndsAWaitingTestWhenItsTimeIsOver) {
  open();
  start();
  receivers_.hold("a.example");
  std::future<Waited> waited = send_test(20ms);
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  clock_.advance(20ms);
  const Waited result = waited.get();
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, std::nullopt);
}

TEST_F(WorkerTest, RefusesATestWhenTheStoreQueueIsFull) {
  open({.publishes_queued_max = 0});
  start();
  const Waited waited = send_test(1min).get();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Errc::unavailable);
}

TEST_F(WorkerTest, FailsATestThatCannotBeStored) {
  open({}, test::fail_nth(0, test::StoreFault::lost));
  start();
  const Waited waited = send_test(1min).get();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Errc::unavailable);
  EXPECT_EQ(receivers_.count("a.example"), 0u);
}

TEST_F(WorkerTest, ATestIsPublishedAgainWhenTheCatalogueHasChanged) {
  open({}, no_faults, publish_tries_max - 1);
  start();
  receivers_.answer("a.example", 204);
  const Waited waited = send_test(1min).get();
  ASSERT_TRUE(waited && *waited);
  EXPECT_EQ(receivers_.count("a.example"), 1u);
}

TEST_F(WorkerTest, FailsATestWhenTheCatalogueNeverStopsChanging) {
  open({}, no_faults, publish_tries_max);
  start();
  const Waited waited = send_test(1min).get();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Errc::unavailable);
  EXPECT_EQ(receivers_.count("a.example"), 0u);
}

TEST_F(WorkerTest, RetriesByTheLoopsTimer) {
  open();
  start();
  receivers_.answer("a.example", 500);
  ASSERT_TRUE(send_test(1min).get());
  EXPECT_EQ(receivers_.count("a.example"), 1u);
  ASSERT_TRUE(store_->try_publish({.publishes = {make_publish(2)}, .done = [](const auto&) {}}));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 2; }));
  EXPECT_TRUE(eventually([&] {
    clock_.advance(1ms);
    return receivers_.count("a.example") >= 3;
  }));
}

TEST_F(WorkerTest, RunsItsTasksOnItsThread) {
  open();
  start();
  EXPECT_EQ(Worker::current(), nullptr);
  std::promise<Worker*> seen;
  worker_->run_on_shard([&](Shard&, Moment) { seen.set_value(Worker::current()); });
  EXPECT_EQ(seen.get_future().get(), &*worker_);
}

TEST_F(WorkerTest, HandsBackAndDrains) {
  open();
  start();
  receivers_.hold("a.example");
  ASSERT_TRUE(store_->try_publish({.publishes = {make_publish(1)}, .done = [](const auto&) {}}));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  worker_->drain();
  worker_->abandon();
  EXPECT_TRUE(eventually([&] { return drained_ == 1; }));
  EXPECT_TRUE(memory_.attempts.empty());
}

}  // namespace
}  // namespace postrider
