// Work that one server does for all that share a store.
#include <gtest/gtest.h>

#include "runtime/admin/operation_runner_world_test.h"
#include "runtime/background/fanout_runner.h"
#include "runtime/cluster/leader_flag.h"

namespace postrider {
namespace {

class LeaderTest : public OperationRunnerTest {
 protected:
  ~LeaderTest() override { end(); }

  void start_as(bool leads) {
    leader_.set(leads);
    harness_.emplace(memory_);
    changes_.emplace(directory_, AccessSnapshot{}, ChannelDirectory{});
    publisher_.emplace(hub_, *changes_, harness_->clock);
    runner_.emplace(OperationRunnerParts{.loop = &harness_->loop,
                                         .worker = 0,
                                         .clock = &harness_->clock,
                                         .store = &*harness_->thread,
                                         .readers = &*harness_->readers,
                                         .metrics = harness_->metrics.get(),
                                         .changes = &*changes_,
                                         .stream = &*publisher_,
                                         .new_uuid = [this] { return ids_.next({}); },
                                         .leader = &leader_});
    fanouts_.emplace(FanoutBacklogLimits{},
                     FanoutRunner::Parts{.clock = &harness_->clock,
                                         .store = &*harness_->thread,
                                         .metrics = harness_->metrics.get(),
                                         .changes = &*changes_,
                                         .stream = &*publisher_,
                                         .new_uuid = [this] { return ids_.next({}); },
                                         .leader = &leader_});
    harness_->start();
  }
  /// As RunningNode does it.
  void lead() {
    harness_->on_store([&](Store& store, RepliesByShard&) -> Result<void> {
      POSTRIDER_TRY(std::vector<Operation> operations, store.operations->load_unfinished());
      runner_->resume(std::move(operations));
      leader_.set(true);
      fanouts_->reload();
      return {};
    });
    harness_->settle();
  }
  void stop_leading() {
    harness_->on_store([&](Store&, RepliesByShard&) -> Result<void> {
      leader_.set(false);
      runner_->suspend();
      return {};
    });
    harness_->settle();
  }

  /// As another server does it: an event for two webhooks.
  void store_note() {
    Publish publish;
    publish.event.id = EventId{ids_.next({})};
    publish.event.tenant_id = "acme";
    publish.fanout = Fanout{.webhooks = std::make_shared<const std::vector<WebhookId>>(
                                std::vector<WebhookId>{webhook_id(1), webhook_id(2)}),
                            .chosen = {},
                            .count = 2,
                            .due = {}};
    ASSERT_TRUE(make_memory_ledger(memory_)->commit({.publishes = {publish}}));
  }

  LeaderFlag leader_;
  std::optional<FanoutRunner> fanouts_;
};

TEST_F(LeaderTest, AnOperationThatIsStartedElsewhereRunsWhenItsServerLeads) {
  add_dead_letters(1, 3);
  start_as(false);
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  EXPECT_EQ(stored(1).status, OperationStatus::scheduled);
  EXPECT_EQ(count(DeliveryState::pending), 0u);
  lead();
  EXPECT_EQ(stored(1).done, 3u);
  EXPECT_EQ(count(DeliveryState::pending), 3u);
}

TEST_F(LeaderTest, AServerThatLeadsNoLongerRunsNothing) {
  add_dead_letters(1, 600);
  start_as(true);
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  EXPECT_EQ(stored(1).done, chunk_max);
  stop_leading();
  harness_->advance(10 * chunk_pause);
  EXPECT_EQ(stored(1).done, chunk_max);
  lead();
  harness_->advance(10 * chunk_pause);
  EXPECT_EQ(stored(1).done, 600u);
}

/// A chunk that is queued when another server begins to lead.
TEST_F(LeaderTest, AQueuedChunkIsNotStoredByAServerThatLeadsNoLonger) {
  add_dead_letters(1, 600);
  start_as(true);
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  leader_.set(false);  // The runner does not know yet.
  harness_->advance(10 * chunk_pause);
  EXPECT_EQ(stored(1).done, chunk_max);
  stop_leading();
  lead();
  harness_->advance(10 * chunk_pause);
  EXPECT_EQ(stored(1).done, 600u);
}

TEST_F(LeaderTest, OnlyTheLeaderMakesDeliveriesFromNotes) {
  start_as(false);
  store_note();
  fanouts_->add({{"acme", 2}});
  harness_->settle();
  EXPECT_EQ(count(DeliveryState::pending), 0u);
  EXPECT_EQ(fanouts_->remaining(), 2u);
  lead();
  EXPECT_EQ(count(DeliveryState::pending), 2u);
  EXPECT_EQ(fanouts_->remaining(), 0u);
}

TEST_F(LeaderTest, TheLeaderFindsTheNotesOfOtherServers) {
  start_as(true);
  harness_->settle();
  store_note();
  fanouts_->look();
  harness_->settle();
  EXPECT_EQ(count(DeliveryState::pending), 2u);
  leader_.set(false);
  store_note();
  fanouts_->look();
  harness_->settle();
  EXPECT_EQ(fanouts_->remaining(), 0u);  // Others do not look.
}

TEST_F(LeaderTest, OthersLearnWhatIsLeftToBeMade) {
  start_as(false);
  fanouts_->add({{"acme", 2}});  // Made by the leader meanwhile.
  harness_->settle();
  EXPECT_EQ(fanouts_->remaining(), 2u);
  fanouts_->reload();
  harness_->settle();
  EXPECT_EQ(fanouts_->remaining(), 0u);
}

}  // namespace
}  // namespace postrider
