// Webhooks and circuits.
#include <algorithm>
#include <map>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

/// Differs from the defaults in every field.
Webhook unusual_webhook(WebhookId id) {
  Webhook webhook = sample_webhook(id);
  webhook.filter = *Filter::parse(R"( {"data" : {"ä":[1.50, null]}} )");
  webhook.name = "Orders";
  webhook.owner_id = "";
  webhook.owner_email = "owner@example.com";
  webhook.resource_id = "swap-1";
  webhook.description = "line\nbreak, \"quotes\"";
  webhook.headers = {{"X-A", "1"}, {"X-B", ""}};
  webhook.metadata = "{ \"a\" : 1 }";
  webhook.signature = {SignatureScheme::sha256_body, "X-Agenta-", false, false,
                       HeaderSet::workspace};
  webhook.payload_format = PayloadFormat::raw;
  webhook.payload_form = PayloadForm::sorted;
  webhook.retry = {.delay_base = Millis{1},
                   .multiplier = 5.25,
                   .delay_max = Millis{2},
                   .schedule = {Millis{30'000}, Millis{300'000}},
                   .jitter = {0.125, 0.25, Millis{1'000}},
                   .attempts_max = 7,
                   .attempts_auto = true,
                   .timeout = Millis{9},
                   .timeout_growth = 1.5,
                   .category_minimums = false,
                   .honor_retry_after = false,
                   .ssl_attempts_max = 8,
                   .permanent_statuses = {404, 410}};
  webhook.breaker = {.enabled = false,
                     .window = BreakerWindow::count,
                     .window_size = Millis{3},
                     .window_calls = 4,
                     .minimum_throughput = 5,
                     .error_threshold_percentage = 33.3,
                     .failure_count_threshold = 6,
                     .consecutive_failure_threshold = 10,
                     .sleep_window = Millis{7},
                     .sleep_multiplier = 1.25,
                     .sleep_max = Millis{8},
                     .half_open_max_calls = 9,
                     .half_open_success_percentage = 66.6,
                     .force_open_until = store_epoch + Millis{6}};
  webhook.rate_limit = {10, Millis{60'000}, 11};
  webhook.max_in_flight = 12;
  webhook.ordering = Ordering::strict;
  webhook.active = false;
  webhook.paused = true;
  webhook.disabled_reason = "gone";
  webhook.disabled_at = store_epoch + Millis{5};
  webhook.secret_set_at = store_epoch + Millis{2};
  webhook.old_secrets = {{Secret{std::string("\0old\n\xff", 6)}, store_epoch + Millis{9}},
                         {Secret{std::string(75, ' ')}, wall_time_max}};
  return webhook;
}

CircuitRecord open_circuit() {
  return {.state = CircuitState::open,
          .openings_in_row = 3,
          .changed_at = store_epoch,
          .open_until = store_epoch + Millis{30'000},
          .forced_until = wall_time_max,
          .forced_open = true,
          .failing_since = store_epoch - Millis{7}};
}

}  // namespace

TEST_P(CatalogContract, EmptyStoreHasNothing) {
  EXPECT_TRUE(catalog().load_webhooks()->empty());
  EXPECT_TRUE(catalog().load_circuits()->empty());
}

TEST_P(CatalogContract, WebhooksRoundTrip) {
  Webhook bare = sample_webhook(second_);
  bare.events.clear();
  bare.retry.permanent_statuses.clear();
  ASSERT_TRUE(catalog().put_webhook(bare).has_value());
  ASSERT_TRUE(catalog().put_webhook(unusual_webhook(first_)).has_value());
  EXPECT_EQ(*catalog().load_webhooks(), (std::vector<Webhook>{unusual_webhook(first_), bare}));
  store_->reopen();
  EXPECT_EQ(*catalog().load_webhooks(), (std::vector<Webhook>{unusual_webhook(first_), bare}));
}

TEST_P(CatalogContract, FindsOneWebhook) {
  ASSERT_TRUE(catalog().put_webhook(unusual_webhook(first_)).has_value());
  EXPECT_EQ(*catalog().find_webhook(first_), unusual_webhook(first_));
  EXPECT_EQ(*catalog().find_webhook(second_), std::nullopt);
}

TEST_P(CatalogContract, PuttingAWebhookAgainReplacesItAndKeepsItsCircuit) {
  ASSERT_TRUE(catalog().put_webhook(unusual_webhook(first_)).has_value());
  commit({.circuits = {{first_, open_circuit()}}});
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  EXPECT_EQ(*catalog().load_webhooks(), (std::vector<Webhook>{sample_webhook(first_)}));
  EXPECT_EQ(catalog().load_circuits()->at(first_), open_circuit());
}

TEST_P(CatalogContract, ResealingLosesNothing) {
  ASSERT_TRUE(catalog().put_webhook(unusual_webhook(first_)).has_value());
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(second_)).has_value());
  ASSERT_TRUE(catalog().reseal_webhooks(std::nullopt, 100).has_value());
  EXPECT_EQ(*catalog().load_webhooks(),
            (std::vector<Webhook>{unusual_webhook(first_), sample_webhook(second_)}));
}

TEST_P(CatalogContract, KeepsTheLatestCircuit) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  commit({.circuits = {{first_, CircuitRecord{}}, {first_, open_circuit()}}});
  store_->reopen();
  EXPECT_EQ(*catalog().load_circuits(),
            (std::map<WebhookId, CircuitRecord>{{first_, open_circuit()}}));
  commit({.circuits = {{first_, CircuitRecord{}}}});
  EXPECT_EQ(catalog().load_circuits()->at(first_), CircuitRecord{});
}

TEST_P(CatalogContract, IgnoresTheCircuitOfAnUnknownWebhook) {
  commit({.circuits = {{first_, open_circuit()}}});
  EXPECT_TRUE(catalog().load_circuits()->empty());
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  EXPECT_TRUE(catalog().load_circuits()->empty());
}

TEST_P(CatalogContract, RemovingAWebhookKeepsItsHistoryAndItsDeliveriesCanBeCancelled) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(second_)).has_value());
  commit({.circuits = {{first_, open_circuit()}}});
  const Delivery pending = accept(first_);
  const Delivery retrying = accept(first_);
  const Delivery done = accept(first_);
  const Delivery other = accept(second_);
  settle(script_.retry(retrying, script_.now + Millis{10}));
  settle(script_.success(done));

  script_.now += Millis{60};
  ASSERT_TRUE(catalog().remove_webhook(first_, script_.now).has_value());
  EXPECT_EQ(*catalog().load_webhooks(), (std::vector<Webhook>{sample_webhook(second_)}));
  EXPECT_TRUE(catalog().load_circuits()->empty());
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 500)->total(), 2);
  EXPECT_EQ(ledger().count_waiting()->total(), 1);
  EXPECT_EQ(record(pending.id).delivery.state, DeliveryState::cancelled);
  EXPECT_EQ(record(pending.id).completed_at, script_.now);
  EXPECT_EQ(record(retrying.id).delivery.state, DeliveryState::cancelled);
  EXPECT_EQ(attempts(retrying.id).size(), 1u);
  EXPECT_EQ(record(done.id).delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(record(other.id).delivery, other);
  ASSERT_EQ(ledger().backlog()->size(), 1u);
  EXPECT_EQ(ledger().backlog()->at(0).webhook_id, second_);
}

TEST_P(CatalogContract, CancelsAtMostLimitWaitingDeliveriesPerCall) {
  std::vector<DeliveryId> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(accept(first_).id);
  }
  const Delivery other = accept(second_);
  const auto cancelled = [&] {
    return std::ranges::count_if(waiting, [&](DeliveryId id) {
      return record(id).delivery.state == DeliveryState::cancelled;
    });
  };
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 2)->total(), 2);
  EXPECT_EQ(cancelled(), 2);
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 2)->total(), 2);
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 2)->total(), 1);
  EXPECT_EQ(cancelled(), 5);
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 2)->total(), 0);
  EXPECT_EQ(record(other.id).delivery, other);
}

TEST_P(CatalogContract, CancelsNothingForAWebhookWithoutDeliveries) {
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 2)->total(), 0);
}

TEST_P(CatalogContract, RemovingAnUnknownWebhookIsNotFound) {
  EXPECT_EQ(catalog().remove_webhook(first_, script_.now).error().code, Errc::not_found);
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  ASSERT_TRUE(catalog().remove_webhook(first_, script_.now).has_value());
  EXPECT_EQ(catalog().remove_webhook(first_, script_.now).error().code, Errc::not_found);
}

}  // namespace postrider::test
