// The calls of the API on a node, and a node with two workers: every reply must reach the thread
// that asked, and every change must reach the worker of its webhook.
#include <gtest/gtest.h>

#include "tests/support/manual_loop.h"
#include "tests/support/node_fixture.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::StoreFault;

/// Counts the lines it is given.
class CountingArchive final : public Archive {
 public:
  explicit CountingArchive(std::atomic<int>& lines) : lines_(lines) {}
  Result<bool> append(std::string_view, WallTime) override {
    ++lines_;
    return false;
  }
  Result<void> seal() override { return {}; }

 private:
  std::atomic<int>& lines_;
};

class NodeServiceTest : public test::NodeFixture {
 protected:
  [[nodiscard]] AuditEntry audit(const std::string& action = {}) const {
    return {.at = clock_.now().wall, .action = action};
  }
  Result<TestSent> send_test(WebhookId id, const std::optional<RequestKey>& key = std::nullopt,
                             std::size_t worker = 0) {
    const WebhookRef webhook = service().directory()->find(id);
    return ask(
        [&] { return service().send_test(webhook, make_event(9), audit("webhook.test"), key); },
        worker);
  }
  Result<Outcome> probe(std::size_t worker = 0) {
    return ask([&] { return service().probe(make_webhook(3, "c.example"), make_event(1), 1s); },
               worker);
  }
  [[nodiscard]] RequestKey request_key() const {
    return {
        .caller = "caller", .key = "key", .digest = "digest", .expires_at = clock_.now().wall + 1h};
  }
  [[nodiscard]] EventDraft draft(std::uint8_t number, const std::string& digest) const {
    return {.event = make_event(number),
            .claim = IdempotencyClaim{
                .key = "key", .body_digest = digest, .expires_at = clock_.now().wall + 1h}};
  }
  Result<std::vector<PublishReceipt>> publish_all(std::vector<EventDraft> drafts) {
    return ask([&] { return service().publish(std::move(drafts), true); });
  }
  [[nodiscard]] DeliveryId delivery_to(WebhookId id) {
    return look([&](const MemoryStore& store) {
      const auto found = std::ranges::find_if(
          store.deliveries, [&](const auto& row) { return row.second.delivery.webhook_id == id; });
      return found == store.deliveries.end() ? DeliveryId{} : found->second.delivery.id;
    });
  }
  [[nodiscard]] std::size_t event_count() {
    return look([](const MemoryStore& store) { return store.events.size(); });
  }

  const Webhook first_ = make_webhook_on(0, 1, "a.example");
  const Webhook second_ = make_webhook_on(1, 2, "b.example");
};

TEST_F(NodeServiceTest, ResumesEveryCallOnTheThreadThatAsked) {  // Checked by ask().
  start({.worker_count = 2});
  for (const std::size_t worker : {0u, 1u}) {
    Webhook webhook =
        make_webhook_on(1 - worker, static_cast<std::uint8_t>(1 + worker), "a.example");
    webhook.paused = true;
    ASSERT_TRUE(ask([&] { return service().add_webhook(webhook, audit(), std::nullopt); }, worker));
    EXPECT_TRUE(ask([&] { return service().lane_view(webhook.id); }, worker));
    std::vector<EventDraft> drafts(1);
    drafts.front().event = make_event(static_cast<std::uint8_t>(1 + worker));
    ASSERT_TRUE(ask([&] { return service().publish(std::move(drafts), false); }, worker));
    const DeliveryId id = delivery_to(webhook.id);
    EXPECT_TRUE(ask(
        [&] { return service().revive({.delivery_id = id, .now = {}, .priority = {}}, audit()); },
        worker));
    EXPECT_TRUE(ask([&] { return service().cancel(id, audit()); }, worker));
    bool was_read = false;
    ask([&] { return service().run_query({}, [&](Reader&) { was_read = true; }); }, worker);
    EXPECT_TRUE(was_read);
    EXPECT_TRUE(probe(worker));
    edit_webhook(webhook.id, [](Webhook& each) { each.paused = false; });
    const auto sent = send_test(webhook.id, std::nullopt, worker);
    ASSERT_TRUE(sent);
    EXPECT_TRUE(sent->attempt);
  }
}

TEST_F(NodeServiceTest, RefusesAPublishThatDoesNotFitIntoTheQueue) {  // P6
  start();
  std::vector<EventDraft> drafts(StoreThreadOptions{}.publishes_queued_max + 1);
  const auto refused = ask([&] { return service().publish(std::move(drafts), false); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_TRUE(has_metric("postrider_publish_refused_total{reason=\"queue_full\"} 1"));
}

TEST_F(NodeServiceTest, PublishesAllEventsOrNone) {
  start();
  ASSERT_TRUE(publish_all({draft(1, "one body")}));
  ASSERT_EQ(event_count(), 1u);
  EventDraft conflicting = draft(2, "another body");
  EventDraft valid = draft(3, "body");
  valid.claim = std::nullopt;
  ASSERT_TRUE(publish_all({valid, conflicting}));
  EXPECT_EQ(event_count(), 1u) << "the key of the second is taken";
}

TEST_F(NodeServiceTest, ARevivedDeliveryIsDueAtOnceAlthoughTheClockWasSetBack) {  // P9
  test::ManualClock clock;
  NodeParts parts = make_parts();
  parts.clock = std::make_unique<test::SharedClock>(clock);
  start({}, std::move(parts));
  Webhook webhook = first_;
  webhook.paused = true;
  add_webhook(webhook);
  ASSERT_TRUE(publish(1));
  clock.jump_wall(-1h);
  const DeliveryId id = delivery_to(webhook.id);
  const auto revived = ask(
      [&] { return service().revive({.delivery_id = id, .now = {}, .priority = {}}, audit()); });
  ASSERT_TRUE(revived);
  EXPECT_EQ(revived->due, clock.now().steady);
  stop();  // Before the clock.
}

TEST_F(NodeServiceTest, AReplayGivesEveryDeliveryItsOwnId) {
  start();
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(publish(2));
  add_webhook(first_);
  Operation replay;
  replay.id.bytes[15] = 1;
  replay.kind = OperationKind::replay;
  replay.spec.filter.webhook_ids = {first_.id};
  replay.due = replay.created_at = clock_.now().wall;
  ASSERT_TRUE(ask([&] { return service().start_operation(replay, {}, audit(), std::nullopt); }));
  EXPECT_TRUE(eventually([&] { return count(first_.id, DeliveryState::succeeded) == 2; }));
}

TEST_F(NodeServiceTest, AuditsATestAndMarksItsEvent) {
  start();
  add_webhook(first_);
  ASSERT_TRUE(send_test(first_.id, request_key()));
  EXPECT_TRUE(has_audit("webhook.test"));
  EXPECT_TRUE(look([](const MemoryStore& store) {
    return store.events.size() == 1 && is_test(*store.events.begin()->second.event);
  }));
  EXPECT_FALSE(look([](const MemoryStore& store) { return store.request_keys.empty(); }));
}

TEST_F(NodeServiceTest, RefusesTestsAndProbesBeyondTheLimit) {
  start({.interactive_sends_max = 0});
  add_webhook(first_);
  const auto sent = send_test(first_.id, request_key());
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::unavailable);
  EXPECT_TRUE(look([](const MemoryStore& store) { return store.request_keys.empty(); }))
      << "the same request may be sent again";
  const auto probed = probe();
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().code, Errc::unavailable);
}

TEST_F(NodeServiceTest, EndedTestsAndProbesMakeRoomForOthers) {
  start({.interactive_sends_max = 1});
  add_webhook(first_);
  EXPECT_TRUE(probe());
  EXPECT_TRUE(probe());
  EXPECT_TRUE(send_test(first_.id));
  EXPECT_TRUE(send_test(first_.id));
}

TEST_F(NodeServiceTest, RefusesATestWhileTheStoreFails) {
  start();
  add_webhook(first_);
  store_fault_ = StoreFault::lost;
  ASSERT_FALSE(publish(1));
  const auto sent = send_test(first_.id);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::unavailable);
  EXPECT_FALSE(has_audit("webhook.test"));
}

TEST_F(NodeServiceTest, ResettingACircuitResolvesItsAlert) {
  memory_.webhooks.emplace(first_.id, first_);
  memory_.circuits[first_.id] = {.state = CircuitState::open,
                                 .openings_in_row = 1,
                                 .changed_at = clock_.now().wall,
                                 .open_until = clock_.now().wall + 1h};
  Alert alert;
  alert.subject = {AlertKind::circuit_opened, first_.id};
  alert.id.bytes[15] = 1;
  memory_.alerts.emplace(1, alert);
  start();
  ASSERT_TRUE(command_circuit(first_.id, CircuitAction::reset));
  EXPECT_TRUE(eventually([&] { return find_alert(alert.subject)->resolved_at.has_value(); }));
}

TEST_F(NodeServiceTest, ReadsTheKeysAgainAndAuditsWhenSecretsAreResealed) {
  std::atomic<int> reloads = 0;
  NodeParts parts = make_parts();
  parts.reload_keys = [&reloads] {
    ++reloads;
    return Result<void>{};
  };
  start({}, std::move(parts));
  EXPECT_TRUE(ask([&] { return service().reseal_secrets(audit("secrets.reseal")); }));
  EXPECT_EQ(reloads, 1);
  EXPECT_TRUE(has_audit("secrets.reseal"));
}

TEST_F(NodeServiceTest, ArchivesAndRemovesExpiredEvents) {
  std::atomic<int> lines = 0;
  NodeParts parts = make_parts();
  parts.archive = std::make_unique<CountingArchive>(lines);
  parts.archive_line = [](const ExpiredEvent&) { return std::string{"{}"}; };
  Publish expired;
  expired.event = make_event(1);
  expired.event.created_at = clock_.now().wall - 24h;
  ASSERT_TRUE(make_memory_ledger(memory_)->commit({.publishes = {expired}}));
  start({.retention = {.ages = {.events = 1s, .dead_letters = 1s}}}, std::move(parts));
  EXPECT_TRUE(eventually([&] { return event_count() == 0; }));
  EXPECT_EQ(lines, 1);
  stop();  // Before the count.
}

TEST_F(NodeServiceTest, AppliesAChangedUrlPolicyOnEveryWorker) {
  UrlPolicy open_policy;
  open_policy.allow_http = true;
  start({.worker_count = 2, .url_policy = open_policy});
  Webhook webhook = second_;
  webhook.url = "http://b.example/";
  webhook.retry.attempts_max = 1;
  add_webhook(webhook);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return count(webhook.id, DeliveryState::succeeded) == 1; }));
  node_->change_url_policy({});
  EXPECT_TRUE(eventually([&] {
    (void)publish(2);  // Attempts are blocked once the lane knows.
    return count(webhook.id, DeliveryState::dead_letter) > 0;
  }));
}

TEST_F(NodeServiceTest, ProbesObeyAChangedUrlPolicyOnEveryWorker) {
  UrlPolicy open_policy;
  open_policy.allow_http = true;
  start({.worker_count = 2, .url_policy = open_policy});
  Webhook webhook = make_webhook(3, "c.example");
  webhook.url = "http://c.example/";
  for (const std::size_t worker : {0u, 1u}) {
    EXPECT_TRUE(
        ask([&] { return service().probe(webhook, make_event(1), 1s); }, worker)->http_status);
  }
  node_->change_url_policy({});
  for (const std::size_t worker : {0u, 1u}) {
    EXPECT_TRUE(eventually([&] {
      return !ask([&] { return service().probe(webhook, make_event(1), 1s); }, worker)->http_status;
    }));
  }
}

TEST_F(NodeServiceTest, AppliesChangedAlertLimitsOnEveryWorker) {
  start({.worker_count = 2});
  Webhook webhook = second_;
  webhook.retry.attempts_max = 1;
  add_webhook(webhook);
  receivers_.answer("b.example", 500);
  node_->change_alert_limits({.dead_letters_max = 0});
  ASSERT_TRUE(publish(1));
  EXPECT_TRUE(
      eventually([&] { return find_alert({AlertKind::dead_letters, webhook.id}).has_value(); }));
}

TEST_F(NodeServiceTest, EveryWorkerLooksForDeliveriesAfterAStoreFailure) {  // P1, P2
  start({.worker_count = 2});
  add_webhook(first_);
  add_webhook(second_);
  receivers_.hold("a.example");
  receivers_.hold("b.example");
  store_fault_ = StoreFault::ambiguous;
  EXPECT_FALSE(publish(1));
  store_fault_ = std::nullopt;
  for (const WebhookId id : {first_.id, second_.id}) {
    EXPECT_TRUE(eventually([&] {
      return ask([&] { return service().lane_view(id); })->in_flight.size() == 1;
    })) << "in flight on the worker of its webhook";
  }
}

TEST_F(NodeServiceTest, CancelsTheBacklogOfARemovedWebhookAfterAStoreFailure) {
  start();
  store_delivery(first_.id);  // For a webhook that the node does not have.
  store_fault_ = StoreFault::lost;
  EXPECT_FALSE(publish(2));
  EXPECT_EQ(count(first_.id, DeliveryState::cancelled), 0u);
  store_fault_ = std::nullopt;
  EXPECT_TRUE(eventually([&] { return count(first_.id, DeliveryState::cancelled) == 1; }));
}

}  // namespace
}  // namespace postrider
