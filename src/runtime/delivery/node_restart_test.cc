// What a node loads when it starts, and stores when it stops.
#include <gtest/gtest.h>

#include "runtime/background/removed_webhook_cleanup.h"
#include "runtime/background/retry_rescheduler.h"

#include "tests/support/node_fixture.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;

/// Lets the test hold the store thread in the middle of a step.
class Gate {
 public:
  /// Store thread. Waits while the gate is closed.
  void pass() {
    waiting_ = true;
    EXPECT_TRUE(eventually([this] { return open_.load(); }));
  }
  [[nodiscard]] bool is_waited_for() const { return waiting_; }
  void open() { open_ = true; }

 private:
  std::atomic<bool> waiting_ = false;
  std::atomic<bool> open_ = false;
};

/// A catalog that waits for the gate in every cancel_waiting, and counts reseal_webhooks.
class WatchedCatalog final : public Catalog {
 public:
  WatchedCatalog(std::unique_ptr<Catalog> real, Gate& gate, int& reseals)
      : real_(std::move(real)), gate_(gate), reseals_(reseals) {}

  Result<std::vector<Webhook>> load_webhooks() override { return real_->load_webhooks(); }
  Result<std::optional<Webhook>> find_webhook(WebhookId id) override {
    return real_->find_webhook(id);
  }
  Result<void> put_webhook(const Webhook& webhook) override { return real_->put_webhook(webhook); }
  Result<void> remove_webhook(WebhookId id, WallTime now) override {
    return real_->remove_webhook(id, now);
  }
  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    gate_.pass();
    return real_->cancel_waiting(id, now, limit);
  }
  Result<void> mark_rescheduling(WebhookId id) override { return real_->mark_rescheduling(id); }
  Result<std::vector<WebhookId>> load_rescheduling() override { return real_->load_rescheduling(); }
  Result<ResealStep> reseal_webhooks(std::optional<WebhookId> after, std::uint32_t limit) override {
    ++reseals_;
    return real_->reseal_webhooks(after, limit);
  }
  Result<std::map<WebhookId, CircuitRecord>> load_circuits() override {
    return real_->load_circuits();
  }

 private:
  std::unique_ptr<Catalog> real_;
  Gate& gate_;
  int& reseals_;
};

class NodeRestartTest : public test::NodeFixture {
 protected:
  /// A webhook with one delivery whose retry is due in 20 hours, much later than its policy allows.
  void store_late_retry() {
    memory_.webhooks.emplace(first_, make_webhook(1, "a.example"));
    store_delivery(first_, [&](Delivery& delivery) {
      delivery.state = DeliveryState::retrying;
      delivery.due = clock_.now().steady + 20h;
      delivery.attempt_count = 1;
      delivery.budget_used = 1;
    });
  }
  [[nodiscard]] bool is_due_soon() {
    return look([&](const MemoryStore& store) {
      return store.deliveries.begin()->second.delivery.due < clock_.now().steady + 1h;
    });
  }

  /// Stores `count` deliveries to the first webhook, all with a retry in 20 hours.
  void store_late_retries(std::size_t count) {
    Batch batch;
    for (std::size_t i = 0; i < count; ++i) {
      Publish publish;
      publish.event = make_event(0);
      publish.event.id.bytes[14] = static_cast<std::uint8_t>(i >> 8);
      publish.event.id.bytes[15] = static_cast<std::uint8_t>(i);
      Delivery delivery;
      delivery.id.bytes = publish.event.id.bytes;
      delivery.event_id = publish.event.id;
      delivery.webhook_id = first_;
      delivery.state = DeliveryState::retrying;
      delivery.due = clock_.now().steady + 20h;
      delivery.attempt_count = delivery.budget_used = 1;
      publish.deliveries.push_back(delivery);
      batch.publishes.push_back(std::move(publish));
    }
    ASSERT_TRUE(make_memory_ledger(memory_)->commit(batch));
  }

  /// Stops the node while the store thread waits for the gate in the middle of a step.
  void stop_in_a_step() {
    ASSERT_TRUE(eventually([&] { return gate_.is_waited_for(); }));
    std::thread stopping{[this] { node_->stop(); }};
    EXPECT_TRUE(eventually([&] { return service().not_ready().has_value(); }));
    gate_.open();
    stopping.join();
    stop();
  }

  void store_alert(const AlertSubject& subject) {
    const auto number = static_cast<std::uint8_t>(memory_.alerts.size() + 1);
    Alert alert;
    alert.subject = subject;
    alert.id.bytes[15] = number;
    memory_.alerts.emplace(number, alert);
  }
  [[nodiscard]] bool is_resolved(const AlertSubject& subject) {
    return find_alert(subject)->resolved_at.has_value();
  }

  [[nodiscard]] std::optional<WallTime> stored_key_use(KeyId id) {
    return look([&](const MemoryStore& store) { return store.api_keys.at(id).last_used_at; });
  }

  const WebhookId first_ = make_webhook(1, "a.example").id;
  Gate gate_;
};

TEST_F(NodeRestartTest, FailuresOfTheLastRunCountForTheCircuit) {
  Webhook webhook = make_webhook(1, "a.example");
  webhook.breaker = breaker_policy(BreakerPreset::sensitive);
  webhook.retry.delay_base = webhook.retry.delay_max = 1h;
  receivers_.answer("a.example", 500);
  start();
  add_webhook(webhook);
  for (std::uint8_t number = 1; number <= 4; ++number) {
    ASSERT_TRUE(publish(number));
  }
  ASSERT_TRUE(eventually([&] { return count(first_, DeliveryState::retrying) == 4; }));
  stop();
  start();
  const auto view = [&] { return ask([&] { return service().lane_view(first_); }); };
  EXPECT_EQ(view()->circuit.state, CircuitState::closed);
  EXPECT_EQ(view()->calls.failures, 4u);
  ASSERT_TRUE(publish(5));
  EXPECT_TRUE(eventually([&] { return view()->circuit.state == CircuitState::open; }));
}

TEST_F(NodeRestartTest, ACircuitCommandRemovesForceOpenUntil) {
  Webhook webhook = make_webhook(1, "a.example");
  webhook.breaker.force_open_until = clock_.now().wall + 1h;
  start();
  add_webhook(webhook);
  const auto state = [&] {
    return ask([&] { return service().lane_view(first_); })->circuit.state;
  };
  EXPECT_TRUE(eventually([&] { return state() == CircuitState::open; }));
  ASSERT_TRUE(command_circuit(first_, CircuitAction::reset));
  EXPECT_TRUE(eventually([&] { return state() == CircuitState::closed; }));
  EXPECT_FALSE(look([&](const MemoryStore& store) {
    return store.webhooks.at(first_).breaker.force_open_until.has_value();
  }));
  stop();
  start();
  EXPECT_EQ(state(), CircuitState::closed);
}

TEST_F(NodeRestartTest, ContinuesTheReschedulingOfTheLastRun) {
  store_late_retry();
  memory_.last_failure_at[first_] = clock_.now().wall;  // The clock was not set back.
  memory_.rescheduling.insert(first_);
  start();
  EXPECT_TRUE(eventually([&] { return is_due_soon(); })) << "the policy allows a wait of a second";
}

TEST_F(NodeRestartTest, ReschedulesRetriesFromBeforeTheClockWasSetBack) {  // P9
  store_late_retry();
  memory_.last_failure_at[first_] = clock_.now().wall + 19h;
  start();
  EXPECT_TRUE(eventually([&] { return is_due_soon(); })) << "the policy allows a wait of a second";
}

TEST_F(NodeRestartTest, CountsDeadLettersWhenItStarts) {
  start();
  Webhook webhook = make_webhook(1, "a.example");
  webhook.retry.attempts_max = 1;
  add_webhook(webhook);
  receivers_.answer("a.example", 500);
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return count(first_, DeliveryState::dead_letter) == 1; }));
  stop();
  start();
  EXPECT_TRUE(has_metric("webhook_dlq_size{tenant_id=\"\"} 1")) << service().metrics_text();
}

TEST_F(NodeRestartTest, GivesEveryWebhookToItsWorker) {
  const Webhook webhooks[] = {make_webhook_on(0, 1, "a.example"),
                              make_webhook_on(1, 2, "b.example")};
  for (const Webhook& webhook : webhooks) {
    memory_.webhooks.emplace(webhook.id, webhook);
  }
  start({.worker_count = 2});
  for (const Webhook& webhook : webhooks) {
    EXPECT_TRUE(ask([&] { return service().lane_view(webhook.id); }));
  }
}

TEST_F(NodeRestartTest, ResolvesAlertsFromBeforeTheStartWhenTheirReasonIsGone) {
  const Webhook other = make_webhook_on(1, 2, "b.example");
  const Webhook one = make_webhook_on(0, 1, "a.example");
  memory_.webhooks.emplace(one.id, one);
  memory_.webhooks.emplace(other.id, other);
  const AlertSubject subjects[] = {{AlertKind::circuit_stays_open, one.id},
                                   {AlertKind::circuit_stays_open, other.id},
                                   {AlertKind::queue_deep, std::nullopt}};
  for (const AlertSubject& subject : subjects) {
    store_alert(subject);
  }
  start({.worker_count = 2});
  for (const AlertSubject& subject : subjects) {
    EXPECT_TRUE(eventually([&] { return is_resolved(subject); }));
  }
}

TEST_F(NodeRestartTest, DrainStartsNoOperationAndTheNextStartRunsIt) {
  start();
  node_->drain([] {});
  Operation operation;
  operation.id.bytes[15] = 1;
  operation.due = operation.created_at = clock_.now().wall;
  ASSERT_TRUE(ask([&] {
    return service().start_operation(operation, {}, AuditEntry{.at = clock_.now().wall},
                                     std::nullopt);
  }));
  add_webhook(make_webhook(1, "a.example"));  // Stored after a step of the operation would be.
  const auto status = [&] {
    return look([&](const MemoryStore& store) { return store.operations.at(operation.id).status; });
  };
  EXPECT_EQ(status(), OperationStatus::scheduled);
  stop();
  start();
  EXPECT_TRUE(eventually([&] { return status() == OperationStatus::completed; }));
}

TEST_F(NodeRestartTest, StopInterruptsTheCleanupOfARemovedWebhook) {
  store_late_retries(2 * cancel_step_max + 1);
  int reseals = 0;
  NodeParts parts = make_parts();
  parts.store.catalog =
      std::make_unique<WatchedCatalog>(std::move(parts.store.catalog), gate_, reseals);
  start({}, std::move(parts));
  stop_in_a_step();
  EXPECT_EQ(count(first_, DeliveryState::cancelled), cancel_step_max);
}

TEST_F(NodeRestartTest, StopInterruptsRescheduling) {
  memory_.webhooks.emplace(first_, make_webhook(1, "a.example"));
  memory_.rescheduling.insert(first_);
  store_late_retries(2 * reschedule_step_max + 1);
  std::atomic<bool> started = false;
  NodeParts parts = make_parts();
  parts.store.ledger = std::make_unique<test::FaultyLedger>(
      *real_ledger_, [&](std::uint64_t) -> std::optional<test::StoreFault> {
        if (started) {
          gate_.pass();
        }
        return std::nullopt;
      });
  auto node = make_node({}, std::move(parts), {});
  ASSERT_TRUE(node);
  node_ = *std::move(node);
  started = true;  // The first call from now on is a step of the rescheduling.
  node_->start();
  stop_in_a_step();
  EXPECT_TRUE(memory_.rescheduling.contains(first_)) << "the next start continues";
}

TEST_F(NodeRestartTest, ResealsSecretsWhenItStarts) {
  int reseals = 0;
  NodeParts parts = make_parts();
  parts.store.catalog =
      std::make_unique<WatchedCatalog>(std::move(parts.store.catalog), gate_, reseals);
  ASSERT_TRUE(make_node({}, std::move(parts), {}));
  EXPECT_EQ(reseals, 1);
}

TEST_F(NodeRestartTest, StoresKeyUsesEveryMinuteAndWhenItStops) {
  ApiKey key;
  key.id.bytes[15] = 1;
  key.sha256 = "digest";
  memory_.api_keys.emplace(key.id, key);
  start();
  const auto use = [&] { service().record_key_use(*service().access()->find_key(key.id)); };
  use();
  EXPECT_TRUE(eventually([&] { return stored_key_use(key.id) == clock_.now().wall; }));
  clock_.advance(1min);
  use();
  const WallTime second = clock_.now().wall;
  EXPECT_TRUE(eventually([&] { return stored_key_use(key.id) == second; }));
  clock_.advance(30s);
  use();
  add_webhook(make_webhook(1, "a.example"));
  EXPECT_EQ(stored_key_use(key.id), second) << "not every use is stored at once";
  stop();
  EXPECT_EQ(stored_key_use(key.id), clock_.now().wall);
}

}  // namespace
}  // namespace postrider
