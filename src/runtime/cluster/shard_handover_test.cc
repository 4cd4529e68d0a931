#include "runtime/cluster/shard_handover.h"

#include <algorithm>
#include <ranges>

#include <gtest/gtest.h>

#include "runtime/limits/shared_allowance.h"

#include "tests/contract/store_script.h"
#include "tests/support/scripted_transport.h"
#include "tests/support/shared_memory_store.h"
#include "tests/support/store_harness.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::sample_webhook;
using test::StoreScript;

constexpr Millis lease_length{15'000};

/// This server alone, with the leases that the test gives it. Its worker does not run: what it is
/// told directly is not seen here.
class ShardHandoverTest : public testing::Test,
                          private HandoverObserver,
                          private CatalogObserver,
                          private LeaseObserver,
                          private ShardOwner {
 protected:
  explicit ShardHandoverTest(const std::string& pool = {}) : pool_{pool, {}} {
    workers_.push_back(
        std::make_unique<Worker>(ShardHostOptions{}, WorkerParts{.clock = harness_.clock,
                                                                 .store = *harness_.thread,
                                                                 .allowance = allowance_.of(0),
                                                                 .owner = *this,
                                                                 .metrics = *harness_.metrics,
                                                                 .stream = stream_,
                                                                 .make_transport = {},
                                                                 .make_sign = {}}));
    handover_.emplace(ShardHandover::Parts{.clock = &harness_.clock,
                                           .store = &*harness_.thread,
                                           .keeper = &keeper_,
                                           .catalog = &catalog_,
                                           .pool = &pool_,
                                           .lease_length = lease_length,
                                           .changes = &changes_,
                                           .cleanup = &cleanup_,
                                           .rescheduler = &rescheduler_,
                                           .workers = &workers_,
                                           .observer = this});
  }
  // Not in the destructor: the store thread calls this object.
  void TearDown() override { harness_.stop(); }

  /// Before start(): stores the webhook and, with `backlog`, a delivery.
  Webhook add(std::uint8_t number, bool backlog = false, const TenantId& tenant_id = "acme") {
    Webhook webhook = sample_webhook(StoreScript::webhook(number));
    webhook.tenant_id = tenant_id;
    EXPECT_TRUE(other_.catalog->put_webhook(webhook));
    if (backlog) {
      add_delivery(webhook.id);
    }
    return webhook;
  }
  void add_delivery(WebhookId id) {
    EXPECT_TRUE(other_.ledger->commit({.publishes = {script_.publish({id})}}));
  }
  void raise(const Webhook& webhook, std::uint8_t number) {
    EXPECT_TRUE(other_.alerts->raise({.id = AlertId{{number}},
                                      .subject = {AlertKind::secret_old, webhook.id},
                                      .tenant_id = webhook.tenant_id,
                                      .raised_at = {},
                                      .resolved_at = std::nullopt,
                                      .detail = {},
                                      .measure = std::nullopt,
                                      .webhook_name = std::nullopt,
                                      .webhook_url = std::nullopt}));
  }
  /// The lease of a shard, as LeaseKeeper tells it.
  ShardAcquired lease(ShardNumber shard) {
    const NodeIdentity self{.id = NodeId{{1}}, .pool = pool_.name(), .address = {}};
    (void)shared_.leases.take_turn(self,
                                   {.length = Millis{600'000}, .release = {}, .take = {shard}});
    return {.shard = shard, .epoch = shared_.leases.lease(pool_.name(), shard).epoch};
  }
  ShardAcquired take(ShardNumber shard) {
    const ShardAcquired acquired = lease(shard);
    handover_->take(acquired);
    return acquired;
  }
  void take_all() {
    for (ShardNumber shard = 0; shard < shard_count; ++shard) {
      take(shard);
    }
  }
  void start() {
    harness_.start();
    settle();
  }
  void settle() {
    harness_.settle();
    for (Input& input : harness_.take_inputs()) {
      inputs_.push_back(std::move(input));
    }
  }
  /// The store works again, and the handover continues.
  void resume() {
    failing_call_ = "";
    ASSERT_TRUE(test::eventually([&] {
      harness_.on_store([](Store&, RepliesByShard&) { return Result<void>{}; });
      return !harness_.thread->failure();
    }));
    handover_->resume();
    settle();
  }
  template <class Kind>
  [[nodiscard]] std::vector<Kind> inputs() const {
    std::vector<Kind> found;
    for (const Input& input : inputs_) {
      if (const Kind* kind = std::get_if<Kind>(&input)) {
        found.push_back(*kind);
      }
    }
    return found;
  }
  [[nodiscard]] bool holds_all() const {
    return std::ranges::all_of(std::views::iota(0u, unsigned{shard_count}), [this](unsigned shard) {
      return handover_->holds(static_cast<ShardNumber>(shard));
    });
  }
  [[nodiscard]] bool has_lane(const Webhook& webhook) const {
    return std::ranges::any_of(inputs<WebhookChanged>(), [&](const WebhookChanged& changed) {
      return changed.at_start && changed.webhook->id == webhook.id;
    });
  }
  void take_due() {
    harness_.on_store([this](Store& store, RepliesByShard& replies) {
      return handover_->take_due(store, replies);
    });
    settle();
  }

  StoreScript script_;
  test::SharedMemoryStore shared_;
  OwnPool pool_;
  Store other_ = shared_.open(NodeId{{2}});
  std::atomic<const char*> failing_call_{""};
  std::function<void()> on_failing_call_ = [] {};  // Set before start().
  std::atomic<std::size_t> catch_ups_{0};
  std::atomic<std::size_t> forgets_{0};
  AdminChanges changes_{Directory{}, AccessSnapshot{}, ChannelDirectory{}};
  EventTypeChanges event_types_{EventTypeCatalog{}};
  CatalogFollower catalog_{0,
                           {.changes = &changes_,
                            .event_types = &event_types_,
                            .make_schema_check = {},
                            .observer = this}};
  test::StoreHarness harness_{shared_.rows, [this](Store& store) {
                                store = shared_.open(NodeId{{1}}, [this](const std::string& call) {
                                  catch_ups_ += call == "changes_since" ? 1 : 0;
                                  forgets_ += call == "forget_handed_over" ? 1 : 0;
                                  if (call != failing_call_.load()) {
                                    return false;
                                  }
                                  on_failing_call_();
                                  return true;
                                });
                                store.peers->join(pool_.name());
                              }};
  RemovedWebhookCleanup cleanup_{harness_.clock, *harness_.thread, *harness_.metrics};
  RetryRescheduler rescheduler_{harness_.clock, *harness_.thread, changes_};
  LeaseKeeper keeper_{
      LeaseOptions{.node = NodeId{{1}}},
      {.clock = &harness_.clock,
       .leases = make_memory_leases(shared_.leases, {.id = NodeId{{1}}, .pool = {}, .address = {}}),
       .observer = this}};
  StreamHub stream_{StreamOptions{}};
  SharedAllowance allowance_{AllowanceLimits{}, 1, [](std::size_t, const SlotReserved&) {}};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<ShardHandover> handover_;
  std::vector<Input> inputs_;
  std::vector<ShardNumber> taken_;
  std::vector<ShardNumber> released_;
  std::vector<Alert> alerts_;
  std::set<WebhookId> dropped_;

 private:
  void shard_taken(ShardNumber shard) override { taken_.push_back(shard); }
  void shard_released(ShardNumber shard) override { released_.push_back(shard); }
  void alerts_taken(const std::vector<Alert>& alerts) override {
    alerts_.insert(alerts_.end(), alerts.begin(), alerts.end());
  }
  void webhooks_dropped(const std::set<WebhookId>& webhooks) override { dropped_ = webhooks; }
  void operations_changed() override {}
  void access_changed(Store&, RepliesByShard&) override {}
  void shard_acquired(const ShardAcquired&) override {}
  void shard_lost(const ShardLost&) override {}
  void cluster_seen(const ClusterView&) override {}
  void shards_left() override {}
  void disable_webhook(WebhookId, const std::string&) override {}
  void reschedule(WebhookId) override {}
  void alert_changed(const AlertChange&) override {}
  void circuit_command_returned(const CircuitCommanded&) override {}
  void shard_handed_back(ShardNumber) override {}
  void shard_drained() override {}
};

TEST_F(ShardHandoverTest, GivesTheWebhooksOfAShardLanesThatContinueWhatIsStored) {
  const Webhook webhook = add(1, true);
  const Webhook elsewhere = add(2);
  ASSERT_NE(shard_of(webhook.id), shard_of(elsewhere.id));
  shared_.rows.circuits[webhook.id] = {.state = CircuitState::open};
  const ShardAcquired acquired = take(shard_of(webhook.id));
  start();
  EXPECT_TRUE(handover_->holds(acquired.shard));
  EXPECT_EQ(taken_, std::vector{acquired.shard});
  EXPECT_EQ(inputs<ShardAcquired>(), std::vector{acquired});
  ASSERT_TRUE(has_lane(webhook));
  EXPECT_FALSE(has_lane(elsewhere));
  const WebhookChanged lane = inputs<WebhookChanged>().back();
  EXPECT_EQ(lane.backlog_due, script_.now);
  ASSERT_TRUE(lane.circuit.has_value());
  EXPECT_EQ(lane.circuit->state, CircuitState::open);
}

TEST_F(ShardHandoverTest, TheShardComesBeforeItsWebhooks) {
  const Webhook webhook = add(1);
  take(shard_of(webhook.id));
  start();
  const auto acquired = std::ranges::find_if(
      inputs_, [](const Input& each) { return std::holds_alternative<ShardAcquired>(each); });
  const auto lane = std::ranges::find_if(inputs_, [](const Input& each) {
    const auto* changed = std::get_if<WebhookChanged>(&each);
    return changed != nullptr && changed->at_start;
  });
  EXPECT_LT(acquired - inputs_.begin(), lane - inputs_.begin());
}

TEST_F(ShardHandoverTest, TakesManyShardsInSteps) {
  const Webhook webhook = add(1, true);
  take_all();
  start();
  ASSERT_TRUE(test::eventually([&] { return holds_all(); }));
  settle();
  EXPECT_EQ(taken_.size(), shard_count);
  EXPECT_EQ(catch_ups_, shard_count / 32);
  EXPECT_TRUE(has_lane(webhook));
  EXPECT_EQ(inputs<WebhookChanged>().back().backlog_due, script_.now);
}

/// They were handed over while nobody held the shard. The backlog has them.
TEST_F(ShardHandoverTest, ForgetsInStepsWhatWasHandedOverBefore) {  // P6
  other_.peers->join("");
  const Webhook webhook = add(1);
  Batch batch;
  for (int i = 0; i < 5'001; ++i) {
    batch.publishes.push_back(script_.publish({webhook.id}));
  }
  ASSERT_TRUE(other_.ledger->commit(batch)->handed_over);
  ASSERT_TRUE(other_.peers->command({.webhook_id = webhook.id, .duration = std::nullopt}));
  take(shard_of(webhook.id));
  start();
  ASSERT_TRUE(test::eventually([&] { return handover_->holds(shard_of(webhook.id)); }));
  settle();
  EXPECT_EQ(forgets_, 2u);
  EXPECT_TRUE(has_lane(webhook));
  EXPECT_EQ(inputs<WebhookChanged>().back().backlog_due, script_.now);
  harness_.on_store([](Store& store, RepliesByShard&) -> Result<void> {
    const HandedOver handed = store.peers->receive(10'000).value();
    EXPECT_TRUE(handed.deliveries.empty());
    EXPECT_EQ(handed.commands.size(), 1u);
    return {};
  });
}

TEST_F(ShardHandoverTest, AShardThatIsLostBeforeItIsTakenIsNotTaken) {
  const ShardAcquired acquired = take(7);
  take(8);
  handover_->lose({.shard = 7, .epoch = acquired.epoch, .at_once = false});
  start();
  EXPECT_EQ(taken_, std::vector<ShardNumber>{8});
  EXPECT_FALSE(handover_->holds(7));
}

TEST_F(ShardHandoverTest, ReleasesAShardBehindWhatWasSubmittedBefore) {
  take(7);
  start();
  bool held_before = false;
  harness_.thread->submit(StoreTask{[&](Store& store, RepliesByShard&) -> Result<void> {
    held_before = store.peers->holds(7);
    return {};
  }});
  handover_->handed_back(7);
  settle();
  EXPECT_TRUE(held_before);
  EXPECT_EQ(released_, std::vector<ShardNumber>{7});
  EXPECT_FALSE(handover_->holds(7));
  harness_.on_store([](Store& store, RepliesByShard&) -> Result<void> {
    EXPECT_FALSE(store.peers->holds(7));
    return {};
  });
}

/// Each call that a step makes fails once.
TEST_F(ShardHandoverTest, TellsNobodyUntilAllIsRead) {
  const Webhook webhook = add(1, true);
  raise(webhook, 1);
  shared_.rows.circuits[webhook.id] = {.state = CircuitState::open};
  const ShardAcquired acquired = take(shard_of(webhook.id));
  failing_call_ = "changes_since";
  harness_.start();
  for (const char* call : {"forget_handed_over", "changes_since", "backlog", "recent_calls"}) {
    failing_call_ = call;
    handover_->resume();
    settle();
    EXPECT_TRUE(taken_.empty()) << call;
    EXPECT_TRUE(alerts_.empty()) << call;
    EXPECT_TRUE(inputs<ShardAcquired>().empty()) << call;
    EXPECT_FALSE(handover_->holds(acquired.shard)) << call;
    failing_call_ = "";
    ASSERT_TRUE(test::eventually([&] { return !harness_.thread->failure(); }));
  }
  resume();
  EXPECT_EQ(taken_, std::vector{acquired.shard});
  EXPECT_EQ(inputs<ShardAcquired>(), std::vector{acquired});
  EXPECT_TRUE(has_lane(webhook));
  EXPECT_EQ(alerts_.size(), 1u);
}

/// The lease thread does not wait for the store.
TEST_F(ShardHandoverTest, AShardThatIsLostWhileTakingItFailsIsNotTakenLater) {
  const ShardAcquired lost = take(7);
  take(8);
  failing_call_ = "changes_since";
  on_failing_call_ = [&] {
    handover_->lose({.shard = 7, .epoch = lost.epoch, .at_once = true});
    handover_->handed_back(7);  // The worker has nothing of it.
  };
  start();
  EXPECT_EQ(released_, std::vector<ShardNumber>{7});
  resume();
  EXPECT_EQ(taken_, std::vector<ShardNumber>{8});
  EXPECT_FALSE(handover_->holds(7));
  // It can be taken again under a later lease.
  handover_->take({.shard = 7, .epoch = lost.epoch + 1});
  settle();
  EXPECT_TRUE(handover_->holds(7));
}

TEST_F(ShardHandoverTest, CancelsTheBacklogOfWebhooksThatAreGone) {
  const Webhook webhook = add(1, true);
  ASSERT_TRUE(other_.catalog->remove_webhook(webhook.id, script_.now));
  take_all();
  start();
  EXPECT_TRUE(test::eventually([&] {
    const std::lock_guard lock{shared_.rows.mutex};
    const Delivery& delivery = shared_.rows.deliveries.begin()->second.delivery;
    return delivery.state == DeliveryState::cancelled;
  }));
}

TEST_F(ShardHandoverTest, ContinuesReschedulingOfItsWebhooksOnly) {
  const Webhook webhook = add(1, true);
  const Webhook elsewhere = add(2, true);
  ASSERT_TRUE(other_.catalog->mark_rescheduling(webhook.id));
  ASSERT_TRUE(other_.catalog->mark_rescheduling(elsewhere.id));
  take(shard_of(webhook.id));
  start();
  EXPECT_TRUE(test::eventually(
      [&] { return other_.catalog->load_rescheduling().value() == std::vector{elsewhere.id}; }));
}

TEST_F(ShardHandoverTest, TakesTheAlertsAboutItsWebhooks) {
  const Webhook own = add(1);
  const Webhook elsewhere = add(2);
  const Webhook removed = add(3);
  raise(own, 1);
  raise(elsewhere, 2);
  raise(removed, 3);
  ASSERT_TRUE(other_.catalog->remove_webhook(removed.id, script_.now));
  take(shard_of(own.id));
  take(shard_of(removed.id));
  start();
  ASSERT_EQ(alerts_.size(), 2u);
  EXPECT_EQ(alerts_[0].subject.webhook_id, own.id);
  EXPECT_EQ(alerts_[1].subject.webhook_id, removed.id);
}

TEST_F(ShardHandoverTest, WebhooksOfOtherPoolsGetNoLane) {
  const Webhook theirs = add(1, true, "globex");
  raise(theirs, 1);
  (void)pool_.change({{"globex", "eu"}});
  take(shard_of(theirs.id));
  start();
  EXPECT_FALSE(has_lane(theirs));
  EXPECT_TRUE(alerts_.empty());
}

TEST_F(ShardHandoverTest, TheWebhooksOfATenantThatLeavesAreHandedOver) {
  const Webhook webhook = add(1);
  add(2, false, "globex");
  take(shard_of(webhook.id));
  start();
  harness_.on_store([&](Store&, RepliesByShard& replies) -> Result<void> {
    handover_->drop_tenants({"acme"}, replies);
    return {};
  });
  settle();
  ASSERT_EQ(inputs<WebhookRemoved>().size(), 1u);
  EXPECT_EQ(inputs<WebhookRemoved>()[0].webhook_id, webhook.id);
  EXPECT_TRUE(inputs<WebhookRemoved>()[0].handed_over) << "its deliveries are not cancelled";
  EXPECT_EQ(dropped_, std::set{webhook.id});
}

TEST_F(ShardHandoverTest, TheWebhooksOfATenantThatComesAreTakenWhenTheOthersHaveStopped) {  // P8
  const Webhook webhook = add(1, true);
  raise(webhook, 1);
  ASSERT_TRUE(other_.catalog->mark_rescheduling(webhook.id));
  start();
  harness_.on_store([&](Store& store, RepliesByShard& replies) -> Result<void> {
    POSTRIDER_CHECK(catalog_.catch_up(store, replies));
    handover_->take_tenants_later({"acme"});
    return {};
  });
  EXPECT_TRUE(handover_->takes_later());
  EXPECT_TRUE(handover_->is_taken_later(webhook.id));
  take(shard_of(webhook.id));
  settle();
  EXPECT_TRUE(handover_->holds(shard_of(webhook.id)));
  EXPECT_FALSE(has_lane(webhook));
  EXPECT_TRUE(alerts_.empty());

  const Millis longest = attempt_timeout(webhook.retry, webhook.retry.attempts_max);
  harness_.clock.advance(lease_length + longest - 1ms);
  take_due();
  EXPECT_FALSE(has_lane(webhook));
  harness_.clock.advance(1ms);
  take_due();
  EXPECT_TRUE(has_lane(webhook));
  EXPECT_EQ(inputs<WebhookChanged>().back().backlog_due, script_.now);
  EXPECT_FALSE(handover_->takes_later());
  EXPECT_EQ(alerts_.size(), 1u);
  EXPECT_TRUE(test::eventually([&] { return other_.catalog->load_rescheduling()->empty(); }));
}

TEST_F(ShardHandoverTest, ATenantThatLeavesAgainIsNotTaken) {
  const Webhook webhook = add(1);
  take(shard_of(webhook.id));
  start();
  inputs_.clear();
  harness_.on_store([&](Store&, RepliesByShard& replies) -> Result<void> {
    handover_->take_tenants_later({"acme"});
    handover_->drop_tenants({"acme"}, replies);
    return {};
  });
  harness_.clock.advance(1h);
  take_due();
  EXPECT_FALSE(has_lane(webhook));
}

TEST_F(ShardHandoverTest, WhatIsDueIsTakenAgainAfterAFailure) {
  const Webhook webhook = add(1);
  start();
  harness_.on_store([&](Store& store, RepliesByShard& replies) -> Result<void> {
    POSTRIDER_CHECK(catalog_.catch_up(store, replies));
    handover_->take_tenants_later({"acme"});
    return {};
  });
  take(shard_of(webhook.id));
  settle();
  harness_.clock.advance(1h);
  failing_call_ = "all_backlog";
  take_due();
  EXPECT_FALSE(has_lane(webhook));
  resume();
  take_due();
  EXPECT_TRUE(has_lane(webhook));
}

/// A server of the pool `eu`, to which the tenant `acme` was bound before the server started.
class PoolHandoverTest : public ShardHandoverTest {
 protected:
  PoolHandoverTest() : ShardHandoverTest("eu") { (void)pool_.change({{"acme", "eu"}}); }

  void bind(WallTime at) {
    const RegisteredTenant tenant{.id = "acme",
                                  .serial = TenantSerial{{7}},
                                  .name = std::nullopt,
                                  .pool = "eu",
                                  .limits = {},
                                  .created_at = at};
    EXPECT_TRUE(other_.registry->apply(AddTenant{tenant}));
  }
  [[nodiscard]] static Millis rest_of(const Webhook& webhook) {
    return lease_length + attempt_timeout(webhook.retry, webhook.retry.attempts_max);
  }
};

TEST_F(PoolHandoverTest, AServerThatStartsAfterATenantWasBoundLetsTheOthersStopFirst) {  // P8
  const Webhook webhook = add(1, true);
  raise(webhook, 1);
  bind(harness_.clock.now().wall - 2s);
  take(shard_of(webhook.id));
  start();
  EXPECT_TRUE(handover_->holds(shard_of(webhook.id)));
  EXPECT_FALSE(has_lane(webhook));
  EXPECT_TRUE(handover_->is_taken_later(webhook.id));
  EXPECT_TRUE(alerts_.empty());
  harness_.clock.advance(rest_of(webhook) - 2s - 1ms);
  take_due();
  EXPECT_FALSE(has_lane(webhook));
  harness_.clock.advance(1ms);
  take_due();
  EXPECT_TRUE(has_lane(webhook));
  EXPECT_EQ(alerts_.size(), 1u);
}

TEST_F(PoolHandoverTest, WebhooksOfATenantThatWasBoundLongAgoAreTakenAtOnce) {
  const Webhook webhook = add(1, true);
  bind(harness_.clock.now().wall - rest_of(webhook));
  take(shard_of(webhook.id));
  start();
  EXPECT_TRUE(has_lane(webhook));
  EXPECT_FALSE(handover_->takes_later());
}

TEST_F(PoolHandoverTest, ABindingThatSeemsToComeFromTheFutureRestsOnceOnly) {
  const Webhook webhook = add(1);
  bind(harness_.clock.now().wall + 24h);
  take(shard_of(webhook.id));
  start();
  EXPECT_FALSE(has_lane(webhook));
  harness_.clock.advance(rest_of(webhook));
  take_due();
  EXPECT_TRUE(has_lane(webhook));
}

TEST_F(PoolHandoverTest, ALongerRestIsNotShortenedByTakingTheShard) {  // P8
  const Webhook webhook = add(1);
  bind(harness_.clock.now().wall - 10s);
  start();
  harness_.on_store([&](Store& store, RepliesByShard& replies) -> Result<void> {
    POSTRIDER_CHECK(catalog_.catch_up(store, replies));
    handover_->take_tenants_later({"acme"});
    return {};
  });
  take(shard_of(webhook.id));
  settle();
  harness_.clock.advance(rest_of(webhook) - 1ms);
  take_due();
  EXPECT_FALSE(has_lane(webhook));
}

}  // namespace
}  // namespace postrider
