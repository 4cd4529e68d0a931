#include "runtime/observability/metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/observability/label_cap.h"

namespace postrider {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, CountAttemptsByOutcomeTypeAndTenant) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  const std::unique_ptr<AttemptMeter> meter = metrics->make_attempt_meter();
  for (int i = 0; i < 3; ++i) {
    meter->record({.event_type = "order.paid", .tenant_id = "acme", .duration = Micros{3000}});
  }
  meter->record({.state = DeliveryState::dead_letter,
                 .failure = FailureCategory::timeout,
                 .event_type = "order.paid",
                 .tenant_id = "acme",
                 .number = 12});
  const std::string text = metrics->text();
  EXPECT_TRUE(
      has_line(text,
               "webhook_deliveries_total{event_type=\"order.paid\",failure_category=\"none\","
               "status=\"succeeded\",tenant_id=\"acme\"} 3"))
      << text;
  EXPECT_TRUE(has_line(text, "webhook_dlq_entries_total 1"));
  EXPECT_TRUE(has_line(text, "webhook_delivery_duration_seconds_count 4"));
  EXPECT_TRUE(has_line(text, "webhook_retry_attempt_number_sum{outcome=\"dead_letter\"} 12"));
}

TEST(Metrics, ShowOneStatePerCircuitAndForgetRemovedWebhooks) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  const WebhookId id{};
  metrics->circuit_changed(id, CircuitState::closed, CircuitState::open);
  std::string text = metrics->text();
  EXPECT_NE(text.find("state=\"open\",webhook_id=\"" + id.to_string() + "\"} 1"),
            std::string::npos);
  EXPECT_NE(text.find("state=\"closed\",webhook_id=\"" + id.to_string() + "\"} 0"),
            std::string::npos);
  EXPECT_TRUE(has_line(text,
                       "webhook_circuit_breaker_transitions_total{from_state=\"closed\","
                       "to_state=\"open\"} 1"));
  metrics->webhook_removed(id);
  text = metrics->text();
  EXPECT_EQ(text.find(id.to_string()), std::string::npos);
}

TEST(Metrics, AddUpTheShards) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  metrics->shard_seen(0, {.in_flight = 5, .waiting = {1, 2, 3}}, 10);
  metrics->shard_seen(1, {.in_flight = 1, .waiting = {10, 20, 30}}, 10);
  const std::string text = metrics->text();
  EXPECT_TRUE(has_line(text, "webhook_queue_depth{priority=\"high\"} 11"));
  EXPECT_TRUE(has_line(text, "webhook_queue_depth{priority=\"low\"} 33"));
  EXPECT_TRUE(has_line(text, "webhook_worker_pool_utilization{pool_id=\"all\"} 0.6"));
}

TEST(Metrics, TellWhatAlertsAreAbout) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  EXPECT_EQ(metrics->facts(0).attempts, 0u);
  EXPECT_EQ(metrics->facts(0).in_flight_max, 0u);
  const std::unique_ptr<AttemptMeter> one = metrics->make_attempt_meter();
  const std::unique_ptr<AttemptMeter> two = metrics->make_attempt_meter();
  one->record({.event_type = "a", .tenant_id = "t"});
  two->record({.state = DeliveryState::retrying,
               .failure = FailureCategory::timeout,
               .event_type = "a",
               .tenant_id = "t"});
  metrics->waiting_counted(10);
  metrics->waiting_changed(5);
  metrics->waiting_changed(-7);
  metrics->shard_seen(0, {.in_flight = 5}, 10);
  metrics->shard_seen(1, {.in_flight = 1}, 10);
  metrics->dead_letters_changed("few", 2);
  metrics->dead_letters_changed("many", 5);
  metrics->dead_letters_changed("many", -2);
  metrics->dead_letters_changed("gone", 3);
  metrics->dead_letters_changed("gone", -3);

  const ServerFacts facts = metrics->facts(2);
  EXPECT_EQ(facts.attempts, 2u);
  EXPECT_EQ(facts.successes, 1u);
  EXPECT_EQ(facts.waiting, 8);
  EXPECT_EQ(facts.in_flight, 6u);
  EXPECT_EQ(facts.in_flight_max, 10u);
  EXPECT_EQ(facts.dead_letters, (std::map<TenantId, std::int64_t>{{"many", 3}}));
  EXPECT_TRUE(has_line(metrics->text(), "postrider_deliveries_waiting 8"));
  metrics->waiting_counted(3);  // After a failure of the store: whatever was counted before.
  EXPECT_EQ(metrics->facts(2).waiting, 3);
}

TEST(LabelCap, SharesOneLabelBeyondTheFirstValues) {
  LabelCap cap{2};
  EXPECT_EQ(cap.label("a"), "a");
  EXPECT_EQ(cap.label("b"), "b");
  EXPECT_EQ(cap.label("c"), "other");
  EXPECT_EQ(cap.label("a"), "a");
}

}  // namespace
}  // namespace postrider
