#include "runtime/delivery/node.h"

#include <gtest/gtest.h>

#include "tests/support/node_fixture.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;

class NodeTest : public test::NodeFixture {
 protected:
  /// Before start(): a webhook with one delivery in the store.
  void store_backlog(const Webhook& webhook, const std::function<void(Delivery&)>& edit = {}) {
    memory_.webhooks.emplace(webhook.id, webhook);
    store_delivery(webhook.id, edit);
  }

  const WebhookId first_ = make_webhook(1, "a.example").id;
};

TEST_F(NodeTest, DeliversWhatIsPublishedAndStoresIt) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  const auto receipts = publish(1);
  ASSERT_TRUE(receipts) << receipts.error().message;
  EXPECT_EQ(std::get<Accepted>(receipts->front()).deliveries.size(), 1u);
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::succeeded) == 1; }));
  ASSERT_EQ(receivers_.count("a.example"), 1u);
  EXPECT_NE(receivers_.requests("a.example").front().find(R"({"order":1})"), std::string::npos);
}

TEST_F(NodeTest, DeliversTheBacklogWhenItStarts) {
  store_backlog(make_webhook(1, "a.example"));
  start();
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::succeeded) == 1; }));
  EXPECT_EQ(receivers_.count("a.example"), 1u);
}

TEST_F(NodeTest, CancelsTheBacklogOfAWebhookThatIsGone) {
  store_backlog(make_webhook(1, "a.example"));
  memory_.webhooks.clear();
  start();
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::cancelled) == 1; }));
}

TEST_F(NodeTest, CountsTheBacklogWhenItStarts) {
  Webhook webhook = make_webhook(1, "a.example");
  webhook.paused = true;
  store_backlog(webhook);
  start();
  EXPECT_TRUE(has_metric("postrider_deliveries_waiting 1")) << service().metrics_text();
}

TEST_F(NodeTest, StartsWithEmptyRateLimits) {  // P7
  Webhook webhook = make_webhook(1, "a.example");
  webhook.rate_limit = RateLimit{.count = 1, .period = Millis{1'000}, .burst = 5};
  store_backlog(webhook);
  start();
  ASSERT_TRUE(eventually([&] {
    return ask([&] { return service().lane_view(first_); })->blocked == BlockReason::rate;
  }));
  EXPECT_EQ(receivers_.count("a.example"), 0u);
  clock_.advance(2s);
  EXPECT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
}

TEST_F(NodeTest, RetriesAFailedAttempt) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.answer("a.example", 500);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return count(first_, DeliveryState::retrying) == 1; }));
  receivers_.answer("a.example", 200);
  EXPECT_TRUE(eventually([&] {
    clock_.advance(1ms);
    return count(first_, DeliveryState::succeeded) == 1;
  }));
  EXPECT_EQ(receivers_.count("a.example"), 2u);
}

TEST_F(NodeTest, ReschedulesWaitingDeliveriesWhenTheRetryPolicyChanges) {
  start();
  Webhook webhook = make_webhook(1, "a.example");
  webhook.retry.delay_base = 2h;
  webhook.retry.delay_max = 2h;
  add_webhook(webhook);
  receivers_.answer("a.example", 500);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return count(first_, DeliveryState::retrying) == 1; }));
  receivers_.answer("a.example", 200);
  edit_webhook(first_, [](Webhook& each) { each.retry.delay_base = each.retry.delay_max = 1ms; });
  const WallTime edited_at = clock_.now().wall;
  EXPECT_TRUE(eventually([&] {
    clock_.advance(clock_.now().wall - edited_at < 1h ? 1ms : 0ms);
    return count(first_, DeliveryState::succeeded) == 1;
  })) << "long before the old policy would have retried";
}

TEST_F(NodeTest, DisablesAWebhookWhoseReceiverIsGone) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.answer("a.example", 410);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return !service().directory()->find(first_)->active; }));
  EXPECT_TRUE(has_audit("webhook.disable"));
  EXPECT_TRUE(eventually([&] {
    const auto alert = find_alert({AlertKind::webhook_disabled, first_});
    return alert && !alert->resolved_at;
  }));
  EXPECT_FALSE(look([&](const MemoryStore& store) { return store.webhooks.at(first_).active; }));
  edit_webhook(first_, [](Webhook& each) { each.active = true; });
  EXPECT_TRUE(eventually(
      [&] { return find_alert({AlertKind::webhook_disabled, first_})->resolved_at.has_value(); }));
}

TEST_F(NodeTest, SendsNothingMoreToARemovedWebhook) {
  start();
  Webhook webhook = make_webhook(1, "a.example");
  webhook.max_in_flight = 1;
  add_webhook(webhook);
  receivers_.hold("a.example");
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(publish(2));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  remove_webhook(first_);
  receivers_.release("a.example");
  add_webhook(make_webhook(2, "b.example"));
  ASSERT_TRUE(publish(3));
  ASSERT_TRUE(eventually([&] { return receivers_.count("b.example") == 1; }));
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::cancelled) > 0; }));
  EXPECT_EQ(receivers_.count("a.example"), 1u);
  EXPECT_FALSE(ask([&] { return service().lane_view(first_); })) << "its lane is gone";
}

TEST_F(NodeTest, CancelsEverythingThatWaitsForARemovedWebhook) {
  start();
  Webhook webhook = make_webhook(1, "a.example");
  webhook.paused = true;
  add_webhook(webhook);
  constexpr std::size_t many = 1'200;  // More than one step of the cleanup.
  std::vector<EventDraft> drafts(many);
  for (std::size_t i = 0; i < many; ++i) {
    drafts[i].event = make_event(0);
    drafts[i].event.id.bytes[14] = static_cast<std::uint8_t>(i >> 8);
    drafts[i].event.id.bytes[15] = static_cast<std::uint8_t>(i);
  }
  ASSERT_TRUE(ask([&] { return service().publish(std::move(drafts), false); }));
  remove_webhook(first_);
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::cancelled) == many; }));
  EXPECT_TRUE(eventually([&] { return has_metric("postrider_deliveries_waiting 0"); }));
}

TEST_F(NodeTest, ResolvesTheAlertsOfARemovedWebhook) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.answer("a.example", 410);
  ASSERT_TRUE(publish(1));
  const AlertSubject subject{AlertKind::webhook_disabled, first_};
  ASSERT_TRUE(eventually([&] { return find_alert(subject).has_value(); }));
  remove_webhook(first_);
  EXPECT_TRUE(eventually([&] { return find_alert(subject)->resolved_at.has_value(); }));
}

TEST_F(NodeTest, SendsNothingToAPausedWebhook) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  add_webhook(make_webhook(2, "b.example"));
  edit_webhook(first_, [](Webhook& each) { each.paused = true; });
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return receivers_.count("b.example") == 1; }));
  EXPECT_EQ(receivers_.count("a.example"), 0u);
  edit_webhook(first_, [](Webhook& each) { each.paused = false; });
  EXPECT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
}

TEST_F(NodeTest, KeepsAnOpenCircuitOverARestart) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  const auto opened = command_circuit(first_, CircuitAction::force_open);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->circuit.state, CircuitState::open);
  ASSERT_TRUE(eventually([&] {
    return look([&](const MemoryStore& store) { return store.circuits.contains(first_); });
  }));
  stop();
  start();
  const auto view = ask([&] { return service().lane_view(first_); });
  ASSERT_TRUE(view);
  EXPECT_EQ(view->circuit.state, CircuitState::open);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(command_circuit(first_, CircuitAction::reset));
  EXPECT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
}

TEST_F(NodeTest, AppliesAChangedUrlPolicyToStoredWebhooks) {
  UrlPolicy open_policy;
  open_policy.allow_http = true;
  start({.url_policy = open_policy});
  Webhook webhook = make_webhook(1, "a.example");
  webhook.url = "http://a.example/";
  webhook.retry.attempts_max = 1;
  add_webhook(webhook);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return count(first_, DeliveryState::succeeded) == 1; }));
  node_->change_url_policy({});
  ASSERT_TRUE(eventually([&] {
    (void)publish(2);  // Attempts are blocked once the lane knows.
    return count(first_, DeliveryState::dead_letter) > 0;
  }));
  const std::size_t sent = receivers_.count("a.example");
  ASSERT_TRUE(publish(3));
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::pending) == 0; }));
  EXPECT_EQ(receivers_.count("a.example"), sent);
}

TEST_F(NodeTest, LendsAFreedSlotToAnotherWorker) {
  start({.worker_count = 2, .shard = {.in_flight_max = 1, .first_attempt_reserve = 0}});
  Webhook other = make_webhook(2, "b.example");
  while (worker_of(other.id, 2) == worker_of(first_, 2)) {
    ++other.id.bytes[14];
  }
  add_webhook(make_webhook(1, "a.example"));
  receivers_.hold("a.example");
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  add_webhook(other);
  edit_webhook(first_, [](Webhook& each) { each.paused = true; });
  ASSERT_TRUE(publish(2));
  EXPECT_TRUE(eventually([&] {
    return ask([&] { return service().lane_view(other.id); })->blocked == BlockReason::slots;
  }));
  receivers_.release("a.example");
  EXPECT_TRUE(eventually([&] { return receivers_.count("b.example") == 1; }));
}

TEST_F(NodeTest, SendsATestThroughTheLaneAndReturnsTheAttempt) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.answer("a.example", 418);
  const WebhookRef webhook = service().directory()->find(first_);
  const auto sent = ask([&] {
    return service().send_test(webhook, make_event(9), AuditEntry{.at = clock_.now().wall},
                               std::nullopt);
  });
  ASSERT_TRUE(sent) << sent.error().message;
  ASSERT_TRUE(sent->attempt);
  EXPECT_EQ(sent->attempt->outcome.http_status, 418);
  EXPECT_TRUE(sent->request);
  EXPECT_EQ(count(first_, DeliveryState::cancelled) + count(first_, DeliveryState::dead_letter), 1u)
      << "tried once";
}

TEST_F(NodeTest, ProbesAReceiverWithoutStoringAnything) {
  start();
  receivers_.answer("c.example", 204);
  const auto outcome =
      ask([&] { return service().probe(make_webhook(3, "c.example"), make_event(1), 1s); });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->http_status, 204);
  EXPECT_TRUE(look([](const MemoryStore& store) { return store.deliveries.empty(); }));
}

TEST_F(NodeTest, StreamsStoredAttempts) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  const auto subscription = service().subscribe({}, std::nullopt, [] {});
  ASSERT_TRUE(subscription);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return !(*subscription)->take().items.empty(); }));
}

TEST_F(NodeTest, AppliesChangedAlertLimits) {
  start();
  Webhook webhook = make_webhook(1, "a.example");
  webhook.retry.attempts_max = 1;
  add_webhook(webhook);
  receivers_.answer("a.example", 500);
  node_->change_alert_limits({.dead_letters_max = 0});
  ASSERT_TRUE(publish(1));
  EXPECT_TRUE(
      eventually([&] { return find_alert({AlertKind::dead_letters, first_}).has_value(); }));
}

TEST_F(NodeTest, AppliesChangedAlertLimitsToTheServer) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.hold("a.example");
  node_->change_alert_limits({.queue_max = 0});
  ASSERT_TRUE(publish(1));
  EXPECT_TRUE(
      eventually([&] { return find_alert({AlertKind::queue_deep, std::nullopt}).has_value(); }));
}

TEST_F(NodeTest, ShowsTheCountersOfItsTransportsAndStore) {
  start({.worker_count = 2});
  add_webhook(make_webhook(1, "a.example"));
  receivers_.hold("a.example");
  ASSERT_TRUE(publish(1));
  EXPECT_TRUE(has_metric("postrider_transport_connections_idle 14"));
  EXPECT_TRUE(has_metric("postrider_deliveries_waiting 1")) << service().metrics_text();
}

TEST_F(NodeTest, IsNotMadeWithoutATransport) {
  NodeParts parts = make_parts();
  parts.make_transport = [](boost::asio::io_context&, const Clock&) {
    return Result<std::unique_ptr<Transport>>{fail(Errc::unavailable, "No certificates.")};
  };
  const auto node = make_node({}, std::move(parts), {});
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().message, "No certificates.");
}

}  // namespace
}  // namespace postrider
