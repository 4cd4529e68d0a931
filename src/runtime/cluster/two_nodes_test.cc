// Two servers that share a store: events, the catalogue, lanes and shards.
#include "runtime/cluster/two_nodes_fixture.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::TwoNodesTest;

TEST_F(TwoNodesTest, EachDeliversWhatTheOtherAccepts) {
  start_both();
  const Webhook first = webhook_of(0, 1);
  const Webhook second = webhook_of(1, 2);
  add(0, first);
  add(0, second);
  publish_at(0, 1);
  publish_at(1, 2);
  EXPECT_TRUE(delivers(first, 2));
  EXPECT_TRUE(delivers(second, 2));
  EXPECT_EQ(receivers_.count(host_of(first)), 2u);
  EXPECT_EQ(receivers_.count(host_of(second)), 2u);
}

TEST_F(TwoNodesTest, WhatOneHasAnsweredTheOtherKnowsAfterCatchingUp) {
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  ask(1, [&] { return service(1).catch_up(); });
  EXPECT_TRUE(knows(1, webhook));
}

TEST_F(TwoNodesTest, ManyCatchUpsAreAnsweredTogether) {
  start_both();
  second_waits_ = true;
  std::vector<std::future<void>> answers;
  for (int i = 0; i < 50; ++i) {
    auto call = [](Service& asked) -> Awaitable<void> {
      auto pending = asked.catch_up();
      co_await std::move(pending);
    };
    answers.push_back(boost::asio::co_spawn(*nodes_[1]->io_contexts()[i % 2], call(service(1)),
                                            boost::asio::use_future));
  }
  for (std::size_t i = 0; i < 2; ++i) {  // Behind all calls of its thread.
    std::promise<void> asked;
    boost::asio::post(*nodes_[1]->io_contexts()[i], [&asked] { asked.set_value(); });
    asked.get_future().wait();
  }
  second_waits_ = false;
  for (std::future<void>& answer : answers) {
    ASSERT_EQ(answer.wait_for(20s), std::future_status::ready);
    EXPECT_NO_THROW(answer.get());
  }
}

TEST_F(TwoNodesTest, WhatAServerStoresForAWebhookThatIsRemovedIsCancelled) {
  start_both();
  const Webhook webhook = webhook_of(1);
  add(0, webhook);
  ask(0, [&] { return service(0).remove_webhook(webhook.id, entry()); });
  for (int looks = 0; looks < 2; ++looks) {  // Then both have finished their cleanup.
    ask(0, [&] { return service(0).catch_up(); });
    ask(1, [&] { return service(1).catch_up(); });
  }
  ASSERT_FALSE(knows(0, webhook) || knows(1, webhook));
  const Store late = shared_.open(id_of(2));
  late.peers->join({});
  Publish publish{.event = make_event(1)};
  publish.deliveries.push_back(
      new_delivery(publish.event, webhook.id, DeliveryId{{1}}, clock_.now().wall));
  ASSERT_TRUE(late.ledger->commit({.publishes = {publish}}));
  EXPECT_EQ(count_of(webhook, DeliveryState::pending), 1u);
  EXPECT_TRUE(passes([&] { return count_of(webhook, DeliveryState::cancelled) == 1; }));
}

TEST_F(TwoNodesTest, BothChangeTheSameWebhook) {
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  for (int i = 0; i < 6; ++i) {
    const std::size_t number = static_cast<std::size_t>(i) % 2;
    const auto edited = ask(number, [&] {
      return service(number).edit_webhook(
          webhook.id,
          [](const Webhook& known) {
            Webhook changed = known;
            changed.name = known.name.value_or("") + "x";
            return Result<Webhook>{changed};
          },
          entry(), std::nullopt);
    });
    ASSERT_TRUE(edited) << edited.error().message;
  }
  const std::lock_guard lock{shared_.rows.mutex};
  EXPECT_EQ(shared_.rows.webhooks.at(webhook.id).name, "xxxxxx");
}

/// Otherwise its user would repeat it.
TEST_F(TwoNodesTest, AChangeIsDoneEvenIfItsServerCannotReadItAgain) {
  start(0);
  ASSERT_TRUE(passes([&] { return held(0) == shard_count; }));
  const Webhook webhook = make_webhook(1, "h1.example");
  has_changed_ = false;
  fails_after_change_ = true;
  const auto added = ask(0, [&] { return service(0).add_webhook(webhook, entry(), std::nullopt); });
  fails_after_change_ = false;
  EXPECT_TRUE(added) << added.error().message;
  ASSERT_TRUE(passes([&] { return !service(0).not_ready(); }));
  publish_at(0, 1);
  EXPECT_TRUE(delivers(webhook));
}

/// On a large store it may take longer than a statement is allowed to.
TEST_F(TwoNodesTest, ACountThatFailsHarmsNothing) {
  counting_fails_ = true;
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  publish_at(1, 1);
  EXPECT_TRUE(delivers(webhook));
  EXPECT_FALSE(service(0).not_ready().has_value());
  // The store is lost and comes back.
  away_[0] = true;
  ASSERT_TRUE(passes([&] { return service(0).not_ready().has_value(); }));
  away_[0] = false;
  ASSERT_TRUE(passes([&] { return !service(0).not_ready().has_value(); }));
  publish_at(0, 2);
  EXPECT_TRUE(delivers(webhook, 2));
}

TEST_F(TwoNodesTest, AServerThatStartsCountsWhatWaitsInTheWholeStore) {
  start(0);
  ASSERT_TRUE(passes([&] { return held(0) == shard_count; }));
  const Webhook webhook = webhook_of(0);
  receivers_.hold(host_of(webhook));
  add(0, webhook);
  publish_at(0, 1);
  start(1);
  EXPECT_TRUE(eventually([&] {
    return service(1).metrics_text().find("postrider_deliveries_waiting 1\n") != std::string::npos;
  }));
  receivers_.release(host_of(webhook));
  EXPECT_TRUE(delivers(webhook));
}

TEST_F(TwoNodesTest, TheOtherContinuesWhenOneStops) {
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  end(nodes_[0]);
  publish_at(1, 1);
  EXPECT_TRUE(delivers(webhook));
  EXPECT_EQ(held(1), shard_count);
}

TEST_F(TwoNodesTest, WhatASentRequestDecidedIsStoredWhenTheStoreIsBack) {
  start_both();
  const Webhook webhook = webhook_of(0);
  add(1, webhook);
  receivers_.hold(host_of(webhook));
  publish_at(1, 1);
  ASSERT_TRUE(passes([&] { return receivers_.count(host_of(webhook)) == 1; }));
  away_[0] = true;  // Its leases live.
  receivers_.release(host_of(webhook));
  ASSERT_TRUE(passes([&] { return service(0).not_ready().has_value(); }));
  away_[0] = false;
  EXPECT_TRUE(delivers(webhook));
  EXPECT_EQ(receivers_.count(host_of(webhook)), 1u);
}

TEST_F(TwoNodesTest, AServerThatLeavesHandsItsShardsOver) {
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  std::atomic<bool> drained = false;
  nodes_[0]->drain([&] { drained = true; });
  ASSERT_TRUE(passes([&] { return drained.load(); }));
  publish_at(1, 1);
  EXPECT_TRUE(delivers(webhook));
}

/// It has no time to wait for the others.
TEST_F(TwoNodesTest, AServerThatMustStopNowDrainsItsWorkers) {
  start(0);
  ASSERT_TRUE(passes([&] { return held(0) == shard_count; }));
  // Another server that never hears that this one is leaving.
  (void)shared_.leases.take_turn({.id = id_of(1), .pool = {}, .address = {}},
                                 {.length = Millis{600'000}, .release = {}, .take = {}});
  std::atomic<bool> drained = false;
  nodes_[0]->drain([&] { drained = true; });
  end(nodes_[0]);
  EXPECT_TRUE(drained);
}

TEST_F(TwoNodesTest, AQuestionAboutALaneOfTheOtherIsAnswered) {
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  ask(1, [&] { return service(1).catch_up(); });
  const auto commanded = passes([&] {
    const Result<LaneView> view = ask(1, [&] {
      return service(1).command_circuit({webhook.id, CircuitAction::force_open, {}}, entry());
    });
    return view && view->circuit.forced_open;
  });
  EXPECT_TRUE(commanded);
  const Result<LaneView> own = ask(0, [&] { return service(0).lane_view(webhook.id); });
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_TRUE(own->circuit.forced_open);
}

TEST_F(TwoNodesTest, ACommandReachesTheNextServerOfALaneThatHasGone) {
  start_both();
  const Webhook busy = webhook_of(0, 1);
  const Webhook idle = neighbour_of(busy, 2);
  leave_one_shard(busy, idle);
  EXPECT_TRUE(view(0, idle)) << "its lane has gone, but not the webhook";
  std::future<Result<LaneView>> answer =
      std::async(std::launch::async, [&] { return command(1, idle, CircuitAction::force_open); });
  ASSERT_TRUE(passes([&] { return shared_.commands_taken() == 1; }));
  receivers_.release(host_of(busy));
  EXPECT_TRUE(passes([&] { return held(1) == shard_count; }));
  EXPECT_TRUE(passes([&] { return answer.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(answer.get());
  EXPECT_TRUE(passes([&] { return view(1, idle)->circuit.forced_open; }));
}

TEST_F(TwoNodesTest, ACommandAtAServerThatIsLeavingReachesTheNext) {
  start_both();
  const Webhook busy = webhook_of(0, 1);
  const Webhook idle = neighbour_of(busy, 2);
  leave_one_shard(busy, idle);
  const Result<LaneView> answer = command(0, idle, CircuitAction::force_open);
  EXPECT_TRUE(answer) << answer.error().message;
  receivers_.release(host_of(busy));
  EXPECT_TRUE(passes([&] { return view(1, idle)->circuit.forced_open; }));
}

TEST_F(TwoNodesTest, ACircuitThatTheOtherServerIsAskedToResetIsNoLongerAlerted) {
  start_both();
  Webhook webhook = webhook_of(0);
  webhook.breaker.minimum_throughput = 1;
  webhook.breaker.failure_count_threshold = 1;
  add(1, webhook);
  receivers_.answer(host_of(webhook), 500);
  publish_at(1, 1);
  ASSERT_TRUE(passes([&] { return circuit_alerts(true) == 1; }));
  ASSERT_TRUE(command(1, webhook, CircuitAction::reset));
  EXPECT_TRUE(passes([&] { return circuit_alerts(false) == 2; }))
      << "the next outage is another alert";
  EXPECT_EQ(circuit_alerts(true), 1u);
}

TEST_F(TwoNodesTest, LanesOfTheOtherAreViewedWithoutTheStoreThread) {
  start_both();
  const Webhook open = webhook_of(0, 1);
  const Webhook failing = webhook_of(0, 2);
  add(0, open);
  add(0, failing);
  ASSERT_TRUE(command(0, open, CircuitAction::force_open));
  receivers_.answer(host_of(failing), 500);
  publish_at(0, 1);
  ask(1, [&] { return service(1).catch_up(); });
  ASSERT_TRUE(passes([&] { return view(1, open)->circuit.forced_open; }));
  ASSERT_TRUE(passes([&] { return view(1, failing)->calls.failures > 0; }));
  second_waits_ = true;
  EXPECT_TRUE(view(1, failing));
  const LaneViews views =
      ask(1, [&] { return service(1).lane_views({open.id, failing.id, WebhookId{{9}}}); });
  second_waits_ = false;
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views.at(open.id).blocked, BlockReason::circuit);
}

TEST_F(TwoNodesTest, TestsOfLanesOfTheOtherAreLimited) {
  interactive_sends_max_ = 1;
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  ask(1, [&] { return service(1).catch_up(); });
  receivers_.hold(host_of(webhook));
  const auto send = [&](std::uint8_t event) {
    return ask(1, [&] {
      return service(1).send_test(service(1).directory()->find(webhook.id), make_event(event),
                                  entry(), std::nullopt);
    });
  };
  std::future<Result<TestSent>> first = std::async(std::launch::async, [&] { return send(1); });
  ASSERT_TRUE(passes([&] { return receivers_.count(host_of(webhook)) == 1; }));
  const Result<TestSent> second = send(2);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::unavailable);
  receivers_.release(host_of(webhook));
  ASSERT_TRUE(passes([&] { return first.wait_for(0s) == std::future_status::ready; }));
  const Result<TestSent> sent = first.get();
  ASSERT_TRUE(sent);
  EXPECT_TRUE(sent->attempt);
}

}  // namespace
}  // namespace postrider
