// The roles of a store that two nodes write at the same time. ledger/ledger_nodes_test.cc has those
// of the ledger.
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/peers/cluster_fixture.h"

namespace postrider::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class TwoWritersTest : public ClusterTest {
 protected:
  using Work = std::function<Result<void>()>;

  /// Runs `earlier` in a transaction of A, and before that ends starts `later`, which waits for it.
  Result<void> overlap(const Work& earlier, const Work& later, bool undone = false) {
    Result<void> outcome;
    std::jthread thread;
    const Result<void> done = a_.store.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(earlier());
      thread = std::jthread{[&] { outcome = later(); }};
      await_waiter();
      return undone ? fail(Errc::conflict, "Undone.") : Result<void>{};
    });
    EXPECT_EQ(done.has_value(), !undone);
    thread.join();
    return outcome;
  }

  /// As `overlap`, but while `later` waits, A also does `then`, which may wait for `later`.
  Result<void> collide(const Work& earlier, const Work& later, const Work& then) {
    Result<void> outcome;
    std::jthread thread;
    const Result<void> done = a_.store.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(earlier());
      if (!thread.joinable()) {  // Else A was chosen to end a deadlock, and begins again.
        thread = std::jthread{[&] { outcome = later(); }};
        await_waiter();
      }
      return then();
    });
    EXPECT_TRUE(done.has_value()) << done.error().message;
    thread.join();
    return outcome;
  }

  Work cancel(ClusterMember& node, DeliveryId id) {
    return [this, &node, id]() -> Result<void> {
      POSTRIDER_CHECK(node.ledger().commit({.cancels = {{.delivery_id = id, .now = script_.now}}}));
      return {};
    };
  }

  /// Does the same on both nodes at once, `count` times.
  void on_both(int count, const std::function<Result<void>(Store&, int)>& work) {
    const auto repeat = [&](Store& store) {
      for (int i = 0; i < count; ++i) {
        const Result<void> done = work(store, i);
        EXPECT_TRUE(done.has_value()) << done.error().message;
      }
    };
    std::jthread other{[&] { repeat(b_.store); }};
    repeat(a_.store);
  }

  Reader& reader() { return one_.reader(); }
};

TEST_F(TwoWritersTest, TheAuditLogIsOneChain) {
  on_both(30, [&](Store& store, int) {
    return store.audit->append(
        {.at = script_.now, .action = "webhook.update", .subject = "whk_1", .tenant_id = "acme"});
  });
  const ChainWalk walk = reader().audit->verify(0, 100).value();
  EXPECT_EQ(walk.checked, 60u);
  EXPECT_EQ(walk.broken_at, std::nullopt);
}

TEST_F(TwoWritersTest, ARequestKeyIsTakenOnce) {
  const RequestKey key{.caller = "key_1",
                       .key = "k",
                       .digest = std::string(32, 'd'),
                       .expires_at = script_.now + Millis{1}};
  const auto take = [&](ClusterMember& node) {
    return [&] { return node.store.request_keys->take(key, "whk_1", script_.now); };
  };
  const Result<void> undone = overlap(take(a_), take(b_), true);
  EXPECT_TRUE(undone.has_value());
  ASSERT_TRUE(a_.store.request_keys->forget(key).has_value());
  const Result<void> second = overlap(take(a_), take(b_));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::conflict);
}

TEST_F(TwoWritersTest, ALinkIsRedeemedOnce) {
  const std::string hash(32, 'l');
  ASSERT_TRUE(a_.store.registry
                  ->apply(AddLink{{.sha256 = hash,
                                   .tenant_id = "acme",
                                   .session = Millis{1},
                                   .expires_at = script_.now}})
                  .has_value());
  const auto redeem = [&](ClusterMember& node, std::uint8_t number) {
    return [&, number] {
      return node.store.registry->apply(
          RedeemLink{.sha256 = hash,
                     .session = {.id = KeyId{{number}},
                                 .sha256 = std::string(32, static_cast<char>(number)),
                                 .expires_at = script_.now,
                                 .session = SessionOrigin{}}});
    };
  };
  const Result<void> second = overlap(redeem(a_, 1), redeem(b_, 2));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::not_found);
  EXPECT_THAT(b_.store.registry->load()->sessions, SizeIs(1));
}

TEST_F(TwoWritersTest, AnOperationCountsTheOutcomesOfBoth) {
  Operation operation;
  operation.id = OperationId{{1}};
  ASSERT_TRUE(a_.store.operations->put(operation).has_value());
  hold(a_, webhook_);
  hold(b_, another_);
  const Publish event = script_.publish({});
  commit(a_, {.publishes = {event}});
  Batch late;
  for (const WebhookId& id : {webhook_, another_}) {
    late.late_deliveries.push_back(script_.add_late_delivery(event.event.id, id));
    late.late_deliveries.back().operation = operation.id;
  }
  const BatchReceipt added = commit(a_, late);
  const Settlement of_a = script_.success(*added.late_deliveries.at(0));
  const Settlement of_b = script_.success(*added.late_deliveries.at(1));
  const auto settle = [](ClusterMember& node, const Settlement& settlement) {
    return [&]() -> Result<void> {
      POSTRIDER_CHECK(node.ledger().commit({.settlements = {settlement}}));
      return {};
    };
  };
  EXPECT_TRUE(overlap(settle(a_, of_a), settle(b_, of_b)));
  EXPECT_EQ(b_.store.operations->find(operation.id)->outcomes.succeeded, 2u);
  // Storing the progress of one node does not overwrite the counts of the other.
  const Result<void> second = overlap(
      [&]() -> Result<void> {
        POSTRIDER_TRY(Operation stored, a_.store.operations->find(operation.id));
        stored.done = 7;
        return a_.store.operations->put(stored);
      },
      [&] {
        return b_.store.atomically([&]() -> Result<void> {
          POSTRIDER_TRY(Operation stored, b_.store.operations->find(operation.id));
          EXPECT_EQ(stored.done, 7u);
          stored.skipped = 8;
          return b_.store.operations->put(stored);
        });
      });
  EXPECT_TRUE(second.has_value());
  EXPECT_EQ(a_.store.operations->find(operation.id)->done, 7u);
  EXPECT_EQ(a_.store.operations->find(operation.id)->outcomes.succeeded, 2u);
}

TEST_F(TwoWritersTest, AlertsAndNotificationsHaveOneOutcome) {
  const Alert alert{.id = AlertId{{1}}, .raised_at = script_.now, .detail = "Open."};
  const auto raise = [&](ClusterMember& node) {
    return [&] { return node.store.alerts->raise(alert); };
  };
  EXPECT_TRUE(overlap(raise(a_), raise(b_)));
  EXPECT_THAT(a_.store.alerts->load_active().value(), SizeIs(1));
  EXPECT_TRUE(overlap([&] { return a_.store.alerts->resolve(alert.id, script_.now); },
                      [&] { return b_.store.alerts->resolve(alert.id, script_.now + Millis{1}); }));
  const auto alerts = reader().alerts->list_alerts({}, {.limit = 10});
  EXPECT_EQ(alerts->items.at(0).resolved_at, script_.now);

  const NotificationChannel channel{.id = ChannelId{{1}}, .name = "mail"};
  ASSERT_TRUE(a_.store.notifications->put_channel(channel).has_value());
  Notification notification{.id = NotificationId{{1}}, .channel_id = channel.id};
  const auto add = [&](ClusterMember& node) {
    return [&] { return node.store.notifications->add({&notification, 1}); };
  };
  EXPECT_TRUE(overlap(add(a_), add(b_)));
  const auto settle = [&](ClusterMember& node, std::uint32_t attempts) {
    return [&, attempts] {
      const NotificationOutcome outcome{
          .id = notification.id, .state = NotificationState::sent, .attempts = attempts};
      return node.store.notifications->settle({&outcome, 1});
    };
  };
  EXPECT_TRUE(overlap(settle(a_, 1), settle(b_, 2)));
  EXPECT_TRUE(b_.store.notifications->load_waiting(std::nullopt, 10)->empty());
}

TEST_F(TwoWritersTest, ChangesOfTheCatalogueFollowEachOther) {
  const CatalogVersion before = a_.peers().catalog_version().value();
  on_both(30, [&](Store& store, int i) -> Result<void> {
    Webhook webhook = sample_webhook(StoreScript::webhook(static_cast<std::uint8_t>(i % 3)));
    POSTRIDER_CHECK(store.catalog->put_webhook(webhook));
    return store.event_types->put({.name = "order.created"});
  });
  EXPECT_EQ(a_.peers().catalog_version(), before + 120);
  EXPECT_THAT(a_.store.catalog->load_webhooks().value(), SizeIs(3));
  EXPECT_THAT(b_.store.event_types->load().value(), SizeIs(1));
}

TEST_F(TwoWritersTest, BothMakeThePartitionsOfTheComingMonths) {
  on_both(5, [](Store& store, int) -> Result<void> {
    POSTRIDER_CHECK(store.retention->release_space());
    return {};
  });
}

TEST_F(TwoWritersTest, ATransactionThatADeadlockEndedIsRepeated) {
  const Operation one{.id = OperationId{{1}}};
  const Operation other{.id = OperationId{{2}}};
  ASSERT_TRUE(a_.store.operations->put(one).has_value());
  ASSERT_TRUE(a_.store.operations->put(other).has_value());
  std::atomic<int> holding = 0;
  std::atomic<int> runs = 0;
  const auto put_both = [&](Store& store, const Operation& first, const Operation& second) {
    return store.atomically([&]() -> Result<void> {
      ++runs;
      POSTRIDER_CHECK(store.operations->put(first));
      ++holding;
      while (holding < 2) {
        std::this_thread::yield();
      }
      return store.operations->put(second);
    });
  };
  Result<void> of_b;
  std::jthread thread{[&] { of_b = put_both(b_.store, other, one); }};
  const Result<void> of_a = put_both(a_.store, one, other);
  thread.join();
  EXPECT_TRUE(of_a.has_value()) << of_a.error().message;
  EXPECT_TRUE(of_b.has_value()) << of_b.error().message;
  EXPECT_GE(runs, 3);  // More if they collide again.
}

TEST_F(TwoWritersTest, ACallOfARoleThatADeadlockEndedIsRepeated) {
  const NotificationChannel channel{.id = ChannelId{{1}}, .name = "mail"};
  ASSERT_TRUE(a_.store.notifications->put_channel(channel).has_value());
  const std::array added{Notification{.id = NotificationId{{1}}, .channel_id = channel.id},
                         Notification{.id = NotificationId{{2}}, .channel_id = channel.id}};
  ASSERT_TRUE(a_.store.notifications->add(added).has_value());
  const std::array sent{
      NotificationOutcome{.id = added[0].id, .state = NotificationState::sent, .attempts = 1},
      NotificationOutcome{.id = added[1].id, .state = NotificationState::sent, .attempts = 1}};
  const Result<void> settled =
      collide([&] { return a_.store.notifications->settle({&sent[1], 1}); },
              [&] { return b_.store.notifications->settle(sent); },
              [&] { return a_.store.notifications->settle({&sent[0], 1}); });
  EXPECT_TRUE(settled.has_value()) << settled.error().message;
  EXPECT_TRUE(b_.store.notifications->load_waiting(std::nullopt, 10)->empty());
}

TEST_F(TwoWritersTest, ARemovalLocksDeliveriesInTheOrderOfSettlements) {
  hold(a_, webhook_);
  const Publish low = script_.publish({webhook_});
  const Publish high = script_.publish({webhook_});
  ASSERT_LT(low.deliveries.at(0).id, high.deliveries.at(0).id);
  commit(a_, {.publishes = {high, low}});  // The one with the higher id is the older one.
  int runs = 0;
  const Result<void> removed = collide(
      cancel(a_, low.deliveries.at(0).id),
      [&] {
        return b_.store.atomically([&]() -> Result<void> {
          ++runs;
          POSTRIDER_TRY(const TenantCounts cancelled,
                        b_.store.catalog->cancel_waiting(webhook_, script_.now, 9));
          EXPECT_EQ(cancelled.total(), 0);
          return {};
        });
      },
      cancel(a_, high.deliveries.at(0).id));
  EXPECT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_EQ(runs, 1);
}

TEST_F(TwoWritersTest, WhatAnotherNodeHasTakenDoesNotCountForTheLimitOfARemoval) {
  hold(a_, webhook_);
  const Delivery oldest = publish(a_, {webhook_}).at(0);
  publish(a_, {webhook_});
  publish(a_, {webhook_});
  const Result<void> removed = overlap(cancel(a_, oldest.id), [&]() -> Result<void> {
    POSTRIDER_TRY(const TenantCounts cancelled,
                  b_.store.catalog->cancel_waiting(webhook_, script_.now, 2));
    EXPECT_EQ(cancelled.total(), 2);
    return {};
  });
  EXPECT_TRUE(removed.has_value()) << removed.error().message;
}

TEST_F(TwoWritersTest, OneRemovesOldEventsWhileTheOtherStoresNewOnes) {
  hold(a_, webhook_);
  const Publish old = script_.publish({webhook_});
  const BatchReceipt stored = commit(a_, {.publishes = {old}});
  const Delivery delivery = std::get<Accepted>(stored.publishes.at(0)).deliveries.front();
  commit(a_, {.settlements = {script_.success(delivery)}});
  const RetentionCutoffs cutoffs{.now = script_.now + std::chrono::hours{48},
                                 .events = script_.now + std::chrono::hours{24}};
  const std::vector<ExpiredKey> expired{{.sequence = delivery.sequence}};
  // The late delivery keeps the event.
  const Result<void> removed = overlap(
      [&]() -> Result<void> {
        POSTRIDER_CHECK(a_.ledger().commit(
            {.late_deliveries = {script_.add_late_delivery(old.event.id, another_)}}));
        return {};
      },
      [&]() -> Result<void> {
        POSTRIDER_TRY(const Removed done, b_.store.retention->remove(expired, cutoffs));
        EXPECT_EQ(done.events, 0u);
        return {};
      });
  EXPECT_TRUE(removed.has_value());
  EXPECT_THAT(b_.ledger().load_events({old.event.id}).value(), SizeIs(1));
}

}  // namespace
}  // namespace postrider::test
