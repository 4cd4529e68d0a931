#include "runtime/cluster/peer_watcher.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/contract/store_script.h"
#include "tests/support/scripted_transport.h"
#include "tests/support/shared_memory_store.h"
#include "tests/support/store_harness.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::StoreScript;

/// This server holds the shard of one webhook. Another one stores its deliveries.
class PeerWatcherTest : public testing::Test, private PeerWatcherOwner, private CatalogObserver {
 protected:
  PeerWatcherTest() {
    other_.peers->join("");
    const NodeIdentity self{.id = NodeId{{1}}, .pool = {}, .address = {}};
    (void)shared_.leases.take_turn(
        self, {.length = Millis{60'000}, .release = {}, .take = {shard_of(webhook_)}});
    watcher_.emplace(PeerWatcher::Parts{.clock = &harness_.clock,
                                        .store = &*harness_.thread,
                                        .catalog = &catalog_,
                                        .signals = signals_.open(),
                                        .owner = this});
  }
  // Not in the destructor: the store thread calls this object.
  void TearDown() override {
    watcher_->stop();
    harness_.stop();
  }

  void start() {
    harness_.start();
    watcher_->start();
  }
  /// What the other server does, without a signal.
  void publish(std::size_t count = 1) {
    std::vector<Publish> publishes;
    for (std::size_t i = 0; i < count; ++i) {
      publishes.push_back(script_.publish({webhook_}));
    }
    const Result<BatchReceipt> receipt = other_.ledger->commit({.publishes = publishes});
    ASSERT_TRUE(receipt && receipt->handed_over);
  }
  void look_at_inputs() {
    for (const Input& input : harness_.take_inputs()) {
      if (const auto* admitted = std::get_if<Admitted>(&input)) {
        admitted_ += admitted->deliveries.size();
      }
      closed_ += std::holds_alternative<DeliveryCancelled>(input) ? 1 : 0;
      commanded_ += std::holds_alternative<CircuitCommanded>(input) ? 1 : 0;
    }
  }
  /// Whether `count` deliveries reach the lanes.
  [[nodiscard]] bool admits(std::size_t count) {
    return eventually([&] {
      look_at_inputs();
      return admitted_ == count;
    });
  }
  /// Time goes on until `condition` holds.
  template <class Condition>
  [[nodiscard]] bool passes(Condition condition) {
    return eventually([&] {
      harness_.clock.advance(1ms);
      return condition();
    });
  }

  StoreScript script_;
  const WebhookId webhook_ = StoreScript::webhook(1);
  test::SharedMemoryStore shared_;
  test::SharedSignals signals_;
  std::atomic<bool> away_{false};
  Store other_ = shared_.open(NodeId{{2}});
  std::unique_ptr<PeerSignals> other_signals_ = signals_.open();
  AdminChanges changes_{Directory{}, AccessSnapshot{}, ChannelDirectory{}};
  EventTypeChanges event_types_{EventTypeCatalog{}};
  CatalogFollower catalog_{1,
                           {.changes = &changes_,
                            .event_types = &event_types_,
                            .make_schema_check = {},
                            .observer = this}};
  test::StoreHarness harness_{
      shared_.rows, [this](Store& store) {
        store = shared_.open(NodeId{{1}}, [this](const std::string&) { return away_.load(); });
        store.peers->join("");
        store.peers->hold({.shard = shard_of(webhook_), .epoch = 1});
      }};
  std::optional<PeerWatcher> watcher_;
  std::atomic<std::size_t> looked_{0};
  std::size_t admitted_ = 0;
  std::size_t closed_ = 0;
  std::size_t commanded_ = 0;

 private:
  Result<void> store_looked_at(Store&, RepliesByShard&) override {
    ++looked_;
    return {};
  }
  void operations_changed() override {}
  void access_changed(Store&, RepliesByShard&) override {}
};

TEST_F(PeerWatcherTest, TakesWhatIsThereAfterASignal) {
  start();
  publish();
  ASSERT_TRUE(other_signals_->signal());
  EXPECT_TRUE(admits(1));
  EXPECT_TRUE(eventually([&] { return looked_ > 0; }));
}

TEST_F(PeerWatcherTest, TakesCancelsAndCommandsToo) {
  start();
  publish(2);
  std::set<DeliveryId> ids;
  for (const auto& [id, sequence] : shared_.rows.delivery_sequences) {
    ids.insert(id);
  }
  ASSERT_TRUE(other_.ledger->commit({.cancels = {{.delivery_id = *ids.begin(), .now = {}}}}));
  shared_.rows.webhooks[webhook_].id = webhook_;
  ASSERT_TRUE(other_.peers->command({.webhook_id = webhook_, .duration = std::nullopt}));
  ASSERT_TRUE(other_signals_->signal());
  EXPECT_TRUE(admits(1));
  EXPECT_EQ(closed_, 2u);  // Once when it was added, once when it was cancelled.
  EXPECT_EQ(commanded_, 1u);
}

TEST_F(PeerWatcherTest, TakesEverythingAfterOneSignal) {
  start();
  publish(2'001);  // More than one round takes.
  ASSERT_TRUE(other_signals_->signal());
  EXPECT_TRUE(admits(2'001));
}

TEST_F(PeerWatcherTest, FollowsTheCatalogueBeforeItTakesDeliveries) {
  start();
  Webhook webhook;
  webhook.id = webhook_;
  ASSERT_TRUE(other_.catalog->put_webhook(webhook));
  publish();
  ASSERT_TRUE(other_signals_->signal());
  std::vector<Input> inputs;
  ASSERT_TRUE(eventually([&] {
    std::vector<Input> more = harness_.take_inputs();
    std::move(more.begin(), more.end(), std::back_inserter(inputs));
    return inputs.size() >= 2;
  }));
  EXPECT_TRUE(std::holds_alternative<WebhookChanged>(inputs[0]));
  EXPECT_TRUE(std::holds_alternative<Admitted>(inputs[1]));
}

TEST_F(PeerWatcherTest, ManyWakesMakeOneSignal) {
  for (int i = 0; i < 100; ++i) {
    watcher_->wake_others();
  }
  start();
  ASSERT_TRUE(eventually([&] { return signals_.sent() > 0; }));
  EXPECT_TRUE(other_signals_->wait(Millis{20'000}).value());
  ASSERT_TRUE(eventually([&] { return looked_ > 0; }));
  const std::size_t before = looked_;
  ASSERT_TRUE(other_signals_->signal());  // One more round of the watcher's thread.
  ASSERT_TRUE(eventually([&] { return looked_ > before; }));
  watcher_->stop();
  EXPECT_EQ(signals_.sent(), 2u);
}

TEST_F(PeerWatcherTest, EveryWakeIsFollowedByASignal) {
  start();
  for (int i = 0; i < 20; ++i) {
    watcher_->wake_others();
    ASSERT_TRUE(eventually([&] { return other_signals_->wait(Millis{1}).value(); })) << i;
  }
}

TEST_F(PeerWatcherTest, LooksByItself) {
  start();
  ASSERT_TRUE(eventually([&] { return looked_ > 0; }));
  publish();
  EXPECT_TRUE(passes([&] {
    look_at_inputs();
    return admitted_ == 1;
  }));
}

TEST_F(PeerWatcherTest, LooksTenTimesASecondIfItCannotHearSignals) {
  signals_.deafen(true);
  start();
  ASSERT_TRUE(eventually([&] { return looked_ > 0; }));
  const MonoTime begun = harness_.clock.now().mono;
  for (std::size_t round = 1; round <= 5; ++round) {
    const std::size_t before = looked_;
    harness_.clock.advance(100ms);
    ASSERT_TRUE(eventually([&] { return looked_ > before; }));
  }
  EXPECT_EQ(harness_.clock.now().mono - begun, Micros{500'000});
}

TEST_F(PeerWatcherTest, LooksWhileSignalsFailAndHearsThemAgain) {
  signals_.fail(true);
  start();
  publish();
  EXPECT_TRUE(admits(1));
  watcher_->wake_others();  // Is lost.
  signals_.fail(false);
  publish();
  ASSERT_TRUE(eventually([&] {
    (void)other_signals_->signal();
    return looked_ > 1;
  }));
  EXPECT_TRUE(admits(2));
}

TEST_F(PeerWatcherTest, ContinuesAfterAFailureOfTheStore) {
  start();
  away_ = true;
  publish();
  ASSERT_TRUE(other_signals_->signal());
  ASSERT_TRUE(eventually([&] { return harness_.thread->failure().has_value(); }));
  away_ = false;
  EXPECT_TRUE(passes([&] {
    (void)other_signals_->signal();
    return looked_ > 0;
  }));
  EXPECT_TRUE(admits(1));
}

TEST_F(PeerWatcherTest, StopsBeforeItWasStartedAndTwice) {
  watcher_->stop();
  watcher_->stop();
  SUCCEED();
}

}  // namespace
}  // namespace postrider
