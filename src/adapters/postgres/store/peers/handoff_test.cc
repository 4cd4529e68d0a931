// What one node stores for webhooks of another one.
#include <future>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/peers/cluster_fixture.h"

#include "tests/support/server_process.h"

namespace postrider::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

class HandoffTest : public ClusterTest {};

TEST_F(HandoffTest, ADeliveryIsReceivedOnceByTheNodeThatHoldsItsShard) {
  hold(a_, another_);
  hold(b_, webhook_);
  const BatchReceipt receipt = commit(a_, {.publishes = {script_.publish({webhook_})}});
  EXPECT_TRUE(receipt.handed_over);
  EXPECT_THAT(receipt.lost, IsEmpty());
  EXPECT_EQ(receive(a_).taken, 0u);
  EXPECT_EQ(receive(c_).taken, 0u);
  const HandedOver handed = receive(b_);
  EXPECT_EQ(handed.deliveries, std::get<Accepted>(receipt.publishes.at(0)).deliveries);
  EXPECT_EQ(handed.taken, 1u);
  EXPECT_FALSE(handed.more);
  EXPECT_EQ(receive(b_).taken, 0u);
}

TEST_F(HandoffTest, ADeliveryOfAnOwnShardIsNotHandedOver) {
  hold(a_, webhook_);
  EXPECT_FALSE(commit(a_, {.publishes = {script_.publish({webhook_})}}).handed_over);
  EXPECT_EQ(receive(a_).taken, 0u);
}

TEST_F(HandoffTest, AStoreThatHasNotJoinedHandsNothingOver) {
  ClusterMember alone = open_alone(4);
  hold(b_, webhook_);
  const BatchReceipt published = commit(alone, {.publishes = {script_.publish({webhook_})}});
  EXPECT_FALSE(published.handed_over);
  const Delivery delivery = std::get<Accepted>(published.publishes.at(0)).deliveries.front();
  EXPECT_THAT(commit(alone, {.settlements = {script_.success(delivery)}}).lost, IsEmpty());
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(receive(b_).taken, 0u);
  EXPECT_EQ(receive(alone).taken, 0u);
}

TEST_F(HandoffTest, ADeliveryOfAFreeShardIsReceivedWhenTheShardIsHeld) {
  const Delivery delivery = publish(a_, {webhook_}).front();
  EXPECT_EQ(receive(a_).taken, 0u);
  EXPECT_EQ(receive(b_).taken, 0u);
  hold(b_, webhook_);
  EXPECT_THAT(receive(b_).deliveries, ElementsAre(delivery));
}

TEST_F(HandoffTest, ANodeReceivesNothingUnderALeaseThatWasTaken) {
  hold(b_, webhook_);
  const Delivery delivery = publish(a_, {webhook_}).front();
  expire_leases();
  hold(c_, webhook_);
  EXPECT_EQ(receive(b_).taken, 0u);
  EXPECT_THAT(receive(c_).deliveries, ElementsAre(delivery));
}

TEST_F(HandoffTest, EachOfTwoNodesReceivesItsOwnAtTheSameTime) {
  hold(b_, webhook_);
  hold(c_, another_);
  std::vector<Delivery> for_b;
  std::vector<Delivery> for_c;
  for (int i = 0; i < 100; ++i) {
    for (const Delivery& delivery : publish(a_, {webhook_, another_})) {
      (delivery.webhook_id == webhook_ ? for_b : for_c).push_back(delivery);
    }
  }
  const auto receive_all = [](ClusterMember& node) {
    std::vector<Delivery> all;
    for (bool more = true; more;) {
      const HandedOver handed = receive(node, 7);
      all.insert(all.end(), handed.deliveries.begin(), handed.deliveries.end());
      more = handed.more;
    }
    return all;
  };
  std::future<std::vector<Delivery>> by_b =
      std::async(std::launch::async, receive_all, std::ref(b_));
  EXPECT_EQ(receive_all(c_), for_c);
  EXPECT_EQ(by_b.get(), for_b);
}

TEST_F(HandoffTest, ACallReturnsAboutAsManyDeliveriesAsItMay) {
  hold(b_, webhook_);
  std::vector<Publish> publishes;
  for (int i = 0; i < 5; ++i) {
    publishes.push_back(script_.publish({webhook_}));
  }
  commit(a_, {.publishes = publishes});  // One row.
  publish(a_, {webhook_});
  const HandedOver first = receive(b_, 2);
  EXPECT_EQ(first.deliveries.size(), 5u);
  EXPECT_EQ(first.taken, 1u);
  EXPECT_TRUE(first.more);
  const HandedOver second = receive(b_, 2);
  EXPECT_EQ(second.deliveries.size(), 1u);
  EXPECT_FALSE(second.more);
}

TEST_F(HandoffTest, WhatIsStoredAfterATakeoverIsHandedOverAndNotDecided) {
  hold(b_, webhook_);
  hold(b_, another_);
  const Delivery before = publish(b_, {webhook_}).front();
  const Delivery other = publish(b_, {another_}).front();
  expire_leases();
  hold(c_, webhook_);
  // B does not know it yet. Nobody has taken its other lease.
  const SaveCircuit open{.webhook_id = webhook_, .record = {.state = CircuitState::open}};
  const BatchReceipt late =
      commit(b_, {.publishes = {script_.publish({webhook_, another_})},
                  .settlements = {script_.success(before), script_.success(other)},
                  .circuits = {open}});
  EXPECT_THAT(late.lost, ElementsAre(shard_of(webhook_)));
  EXPECT_TRUE(late.handed_over);
  EXPECT_EQ(record(before.id).delivery.state, DeliveryState::pending);
  EXPECT_TRUE(one_.reader().history->attempts_of(before.id)->empty());
  EXPECT_EQ(record(other.id).delivery.state, DeliveryState::succeeded);
  const std::vector<Delivery>& added = std::get<Accepted>(late.publishes.at(0)).deliveries;
  EXPECT_THAT(receive(c_).deliveries, ElementsAre(added.front()));
  EXPECT_EQ(receive(b_).taken, 0u);
  EXPECT_THAT(c_.peers().backlog(shard_of(webhook_)).value(), IsEmpty());  // No such webhook.
}

TEST_F(HandoffTest, ACircuitIsSavedUnderAValidLeaseOnly) {
  ASSERT_TRUE(a_.store.catalog->put_webhook(sample_webhook(webhook_)).has_value());
  const SaveCircuit open{.webhook_id = webhook_, .record = {.state = CircuitState::open}};
  EXPECT_THAT(commit(b_, {.circuits = {open}}).lost, ElementsAre(shard_of(webhook_)));
  EXPECT_TRUE(b_.store.catalog->load_circuits()->empty());
  hold(b_, webhook_);
  EXPECT_THAT(commit(b_, {.circuits = {open}}).lost, IsEmpty());
  EXPECT_EQ(b_.store.catalog->load_circuits()->at(webhook_).state, CircuitState::open);
  expire_leases();
  hold(c_, webhook_);
  const SaveCircuit closed{.webhook_id = webhook_, .record = {}};
  EXPECT_THAT(commit(b_, {.circuits = {closed, closed}}).lost, ElementsAre(shard_of(webhook_)));
  EXPECT_EQ(b_.store.catalog->load_circuits()->at(webhook_).state, CircuitState::open);
}

TEST_F(HandoffTest, ASettlementOfAShardThatWasReleasedIsIgnored) {
  hold(b_, webhook_);
  EXPECT_TRUE(b_.peers().holds(shard_of(webhook_)));
  const Delivery delivery = publish(b_, {webhook_}).front();
  b_.peers().release(shard_of(webhook_));
  EXPECT_FALSE(b_.peers().holds(shard_of(webhook_)));
  const Settlement success = script_.success(delivery);
  EXPECT_THAT(commit(b_, {.settlements = {success, success}}).lost,
              ElementsAre(shard_of(webhook_)));
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::pending);
}

TEST_F(HandoffTest, ALeaseThatIsTakenAgainIsValidUnderItsNewEpochOnly) {
  const Epoch first = hold(b_, webhook_);
  const Delivery delivery = publish(b_, {webhook_}).front();
  expire_leases();
  EXPECT_EQ(take(b_, shard_of(webhook_)), first + 1);
  EXPECT_THAT(commit(b_, {.settlements = {script_.success(delivery)}}).lost,
              ElementsAre(shard_of(webhook_)));
  b_.peers().hold({.shard = shard_of(webhook_), .epoch = first + 1});
  EXPECT_THAT(commit(b_, {.settlements = {script_.success(delivery)}}).lost, IsEmpty());
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::succeeded);
}

TEST_F(HandoffTest, AShardIsNotTakenWhileItsHolderStoresSomething) {
  hold(b_, webhook_);
  const ShardNumber shard = shard_of(webhook_);
  const LeaseTurn turn{.length = length, .take = {shard}};
  EXPECT_TRUE(b_.store.atomically([&]() -> Result<void> {
    EXPECT_FALSE(commit(b_, {.publishes = {script_.publish({webhook_})}}).handed_over);
    expire_leases();
    EXPECT_EQ(c_.leases->take_turn(turn)->leases[shard].owner, b_.identity.id);
    return {};
  }));
  EXPECT_EQ(c_.leases->take_turn(turn)->leases[shard].owner, c_.identity.id);
}

TEST_F(HandoffTest, RevivalsAndCancelsAreHandedOver) {
  hold(b_, webhook_);
  const std::vector<Delivery> deliveries = {publish(b_, {webhook_}).front(),
                                            publish(b_, {webhook_}).front(),
                                            publish(b_, {webhook_}).front()};
  const DeadReason gone{Classification::permanent, "http_404"};
  commit(b_,
         {.settlements = {script_.death(deliveries[0], gone), script_.death(deliveries[2], gone)}});
  const BatchReceipt changed =
      commit(a_, {.revivals = {{.delivery_id = deliveries[0].id, .now = script_.now}},
                  .cancels = {{deliveries[1].id, script_.now},
                              {deliveries[2].id, script_.now, CancelOf::dead_letter}}});
  EXPECT_TRUE(changed.handed_over);
  const HandedOver handed = receive(b_);
  EXPECT_THAT(handed.deliveries, ElementsAre(*changed.revivals.at(0)));
  ASSERT_EQ(handed.closed.size(), 1u);  // A discarded dead letter is in no lane.
  EXPECT_EQ(handed.closed[0].webhook_id, webhook_);
  EXPECT_EQ(handed.closed[0].delivery_id, deliveries[1].id);
  // The holder's own are not.
  EXPECT_FALSE(commit(b_, {.revivals = {{.delivery_id = deliveries[2].id, .now = script_.now}},
                           .cancels = {{deliveries[0].id, script_.now}}})
                   .handed_over);
}

TEST_F(HandoffTest, ADeliveryIsReceivedAsItIsNow) {
  hold(b_, webhook_);
  const Delivery twice = publish(a_, {webhook_}).front();
  const Delivery gone = publish(a_, {webhook_}).front();
  commit(a_, {.cancels = {{twice.id, script_.now}, {gone.id, script_.now}}});
  const BatchReceipt revived =
      commit(a_, {.revivals = {{.delivery_id = twice.id, .now = script_.now}}});
  const HandedOver handed = receive(b_);
  EXPECT_THAT(handed.deliveries, ElementsAre(*revived.revivals.at(0)));
  ASSERT_EQ(handed.closed.size(), 1u);
  EXPECT_EQ(handed.closed[0].delivery_id, gone.id);
}

TEST_F(HandoffTest, LateDeliveriesAreHandedOver) {
  hold(a_, another_);
  hold(b_, webhook_);
  const Publish event = script_.publish({});
  commit(a_, {.publishes = {event}});
  EXPECT_FALSE(
      commit(a_, {.late_deliveries = {script_.add_late_delivery(event.event.id, another_)}})
          .handed_over);
  const BatchReceipt added =
      commit(a_, {.late_deliveries = {script_.add_late_delivery(event.event.id, webhook_)}});
  EXPECT_TRUE(added.handed_over);
  EXPECT_THAT(receive(b_).deliveries, ElementsAre(*added.late_deliveries.at(0)));
}

TEST_F(HandoffTest, DeliveriesThatAreMadeFromANoteAreHandedOver) {
  hold(a_, another_);
  hold(b_, webhook_);
  Publish noted = script_.publish({});
  noted.fanout = Fanout{.webhooks = std::make_shared<const std::vector<WebhookId>>(
                            std::vector<WebhookId>{webhook_, another_}),
                        .chosen = {},
                        .count = 2,
                        .due = script_.now};
  EXPECT_FALSE(commit(a_, {.publishes = {noted}}).handed_over);
  UuidGenerator ids{11};
  const FanOutStep step{.tenant_id = "acme",
                        .limit = 1,
                        .now = script_.now,
                        .due_max = script_.now,
                        .exists = [](WebhookId) { return true; },
                        .new_id = [&] { return ids.make<DeliveryId>(script_.now); }};
  const FannedOut of_b = a_.ledger().fan_out(step).value();
  EXPECT_TRUE(of_b.handed_over);
  EXPECT_FALSE(a_.ledger().fan_out(step)->handed_over);
  EXPECT_THAT(receive(b_).deliveries, UnorderedElementsAreArray(of_b.parts.at(0).deliveries));
}

TEST_F(HandoffTest, OnlyTheNodeThatHoldsTheShardBringsDeliveriesForward) {
  ASSERT_TRUE(a_.store.catalog->mark_rescheduling(webhook_).has_value());
  hold(b_, webhook_);
  const BringForward order{
      .webhook_id = webhook_, .policy = {}, .now = script_.now, .after = {}, .limit = 10};
  const Result<BroughtForward> refused = a_.ledger().bring_forward(order);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_THAT(a_.store.catalog->load_rescheduling().value(), ElementsAre(webhook_));
  EXPECT_TRUE(b_.ledger().bring_forward(order).has_value());
  EXPECT_TRUE(a_.store.catalog->load_rescheduling()->empty());
}

TEST_F(HandoffTest, CommandsAreReceivedInTheirOrder) {
  ASSERT_TRUE(a_.store.catalog->put_webhook(sample_webhook(webhook_)).has_value());
  EXPECT_EQ(a_.peers().command({.webhook_id = another_, .duration = {}}).error().code,
            Errc::not_found);
  const CircuitCommanded open{
      .webhook_id = webhook_, .action = CircuitAction::force_open, .duration = Millis{5'000}};
  const CircuitCommanded reset{.webhook_id = webhook_, .duration = std::nullopt};
  ASSERT_TRUE(a_.peers().command(open).has_value());
  ASSERT_TRUE(c_.peers().command(reset).has_value());
  hold(b_, webhook_);
  const HandedOver handed = receive(b_);
  ASSERT_EQ(handed.commands.size(), 2u);
  EXPECT_EQ(handed.commands[0].webhook_id, webhook_);
  EXPECT_EQ(handed.commands[0].action, CircuitAction::force_open);
  EXPECT_EQ(handed.commands[0].duration, Millis{5'000});
  EXPECT_EQ(handed.commands[1].action, CircuitAction::reset);
  EXPECT_EQ(handed.commands[1].duration, std::nullopt);
  EXPECT_EQ(receive(b_).taken, 0u);
}

TEST_F(HandoffTest, TheBacklogOfAShardHasItsWebhooksOnly) {
  for (const WebhookId& id : {webhook_, another_}) {
    ASSERT_TRUE(a_.store.catalog->put_webhook(sample_webhook(id)).has_value());
  }
  hold(b_, webhook_);
  EXPECT_THAT(b_.peers().backlog(shard_of(webhook_)).value(), IsEmpty());
  publish(a_, {webhook_}, {.due_in = Millis{7}});
  const Delivery tried = publish(a_, {webhook_, another_}).front();
  commit(b_, {.settlements = {script_.retry(tried, script_.now + Millis{9})}});
  const std::vector<LaneBacklog> lanes = b_.peers().backlog(shard_of(webhook_)).value();
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_EQ(lanes[0].webhook_id, webhook_);
  EXPECT_EQ(lanes[0].due, script_.now + Millis{7});
  EXPECT_EQ(lanes, (std::vector<LaneBacklog>{b_.ledger().backlog()->front()}));
  // A webhook that another node has added since.
  WebhookId added;
  do {
    added.bytes[0]++;
  } while (shard_of(added) != shard_of(webhook_));
  ASSERT_TRUE(c_.store.catalog->put_webhook(sample_webhook(added)).has_value());
  publish(c_, {added});
  EXPECT_EQ(b_.peers().backlog(shard_of(webhook_))->size(), 2u);
}

TEST_F(HandoffTest, EachPoolHasItsOwnShards) {
  ClusterMember gold = open(4, "gold");
  Webhook theirs = sample_webhook(webhook_);
  theirs.tenant_id = "rich";
  ASSERT_TRUE(a_.store.catalog->put_webhook(theirs).has_value());
  for (ClusterMember* node : {&a_, &gold}) {
    hold(*node, webhook_);
    node->peers().set_pools({{"rich", "gold"}});
  }
  const BatchReceipt receipt =
      commit(a_, {.publishes = {script_.publish({webhook_}, {.tenant_id = "rich"})}});
  EXPECT_TRUE(receipt.handed_over);
  EXPECT_EQ(receive(a_).taken, 0u);
  EXPECT_EQ(receive(gold).deliveries, std::get<Accepted>(receipt.publishes.at(0)).deliveries);
  ASSERT_TRUE(a_.peers().command({.webhook_id = webhook_, .duration = {}}).has_value());
  EXPECT_EQ(receive(a_).taken, 0u);
  EXPECT_EQ(receive(gold).commands.size(), 1u);
  EXPECT_EQ(gold.peers().backlog(shard_of(webhook_))->size(), 1u);
  EXPECT_THAT(a_.peers().backlog(shard_of(webhook_)).value(), IsEmpty());
  a_.peers().set_pools({});
  EXPECT_EQ(a_.peers().backlog(shard_of(webhook_))->size(), 1u);
}

TEST_F(HandoffTest, HintsForShardsThatNobodyHoldsAreRemovedAfterHours) {
  hold(b_, webhook_);
  publish(a_, {webhook_});
  publish(a_, {another_});
  ASSERT_TRUE(a_.peers().remove_old().has_value());
  run("UPDATE handoff SET stored_at = stored_at - interval '7 hours'");
  publish(a_, {another_});
  ASSERT_TRUE(a_.peers().remove_old().has_value());
  EXPECT_EQ(receive(b_).taken, 1u);
  hold(c_, another_);
  EXPECT_EQ(receive(c_).taken, 1u);
}

TEST_F(HandoffTest, WhatWasHandedOverBeforeAShardIsHeldCanBeForgotten) {  // P6
  ASSERT_TRUE(a_.store.catalog->put_webhook(sample_webhook(webhook_)).has_value());
  const std::vector<Delivery> deliveries = {publish(a_, {webhook_}).front(),
                                            publish(a_, {webhook_}).front()};
  commit(a_, {.cancels = {{deliveries[0].id, script_.now}}});
  publish(a_, {another_});
  ASSERT_TRUE(a_.peers().command({.webhook_id = webhook_, .duration = {}}).has_value());
  const ShardNumber shard = shard_of(webhook_);
  const Epoch epoch = take(b_, shard);
  const std::vector<ShardEpoch> lease{{.shard = shard, .epoch = epoch}};
  EXPECT_FALSE(c_.peers().forget_handed_over({{.shard = shard, .epoch = epoch + 1}}, 2).value());
  EXPECT_TRUE(b_.peers().forget_handed_over(lease, 2).value());
  EXPECT_FALSE(b_.peers().forget_handed_over(lease, 2).value());
  b_.peers().hold(lease.front());
  const HandedOver handed = receive(b_);
  EXPECT_THAT(handed.deliveries, IsEmpty());
  EXPECT_THAT(handed.closed, IsEmpty());
  EXPECT_EQ(handed.commands.size(), 1u);
  EXPECT_EQ(b_.peers().backlog(shard)->size(), 1u);
  hold(b_, another_);
  EXPECT_EQ(receive(b_).deliveries.size(), 1u);
}

TEST_F(HandoffTest, AFormerHolderForgetsNothing) {  // P2
  const ShardNumber shard = shard_of(webhook_);
  const Epoch epoch = take(b_, shard);
  expire_leases();
  hold(c_, webhook_);
  const Delivery delivery = publish(a_, {webhook_}).front();
  EXPECT_FALSE(b_.peers().forget_handed_over({{.shard = shard, .epoch = epoch}}, 10).value());
  EXPECT_THAT(receive(c_).deliveries, ElementsAre(delivery));
}

TEST_F(HandoffTest, NothingIsLostWithAConnection) {
  hold(b_, webhook_);
  const Delivery delivery = publish(a_, {webhook_}).front();
  run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'app'");
  const Result<HandedOver> lost = b_.peers().receive(10);
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Errc::unavailable);
  ASSERT_TRUE(b_.ledger().recover().has_value());
  EXPECT_TRUE(b_.peers().holds(shard_of(webhook_)));
  EXPECT_THAT(receive(b_).deliveries, ElementsAre(delivery));
}

TEST(PooledPeers, NodesBehindAConnectionPoolHandDeliveriesOver) {
  // A pool accepts no search_path in an address.
  run_as_admin("CREATE DATABASE pooled_peers OWNER app STRATEGY file_copy");
  {
    const ServerProcess pool{"pgbouncer", {postgres_server().member("port"), "pooled_peers", "2"}};
    const PostgresOptions options{.connect = {.address = Secret{pool.member("address")}},
                                  .digest = test_digest,
                                  .use = DatabaseUse::shared};
    Result<Store> a = open_postgres_store(options);
    Result<Store> b = open_postgres_store(options);
    ASSERT_TRUE(a.has_value() && b.has_value());
    const WebhookId webhook = StoreScript::webhook(1);
    const auto leases =
        make_postgres_leases(options.connect, {.id = NodeId{{1}}, .pool = {}, .address = {}});
    const ShardNumber shard = shard_of(webhook);
    const auto view = leases->take_turn({.length = std::chrono::hours{1}, .take = {shard}}).value();
    a->peers->join({});
    b->peers->join({});
    b->peers->hold({.shard = shard, .epoch = view.leases[shard].epoch});
    ASSERT_TRUE(a->catalog->put_webhook(sample_webhook(webhook)).has_value());
    StoreScript script;
    const CatalogVersion seen = a->peers->catalog_version().value();
    const BatchReceipt receipt =
        a->ledger->commit({.catalog_seen = seen, .publishes = {script.publish({webhook})}}).value();
    EXPECT_TRUE(receipt.handed_over);
    const HandedOver handed = b->peers->receive(10).value();
    EXPECT_EQ(handed.deliveries, std::get<Accepted>(receipt.publishes.at(0)).deliveries);
    EXPECT_EQ(b->peers->receive(10)->taken, 0u);
    EXPECT_EQ(b->peers->backlog(shard)->size(), 1u);
    const Settlement success = script.success(handed.deliveries.at(0));
    EXPECT_THAT(a->ledger->commit({.settlements = {success}})->lost, ElementsAre(shard));
    EXPECT_THAT(b->ledger->commit({.settlements = {success}})->lost, IsEmpty());
    EXPECT_THAT(b->peers->backlog(shard).value(), IsEmpty());
    EXPECT_EQ(b->peers->changes_since(0)->version, seen);
  }
  run_as_admin("DROP DATABASE pooled_peers WITH (FORCE)");
}

}  // namespace
}  // namespace postrider::test
