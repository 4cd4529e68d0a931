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
                 .number = 12,
                 .budget_used = 9});
  meter->record({.state = DeliveryState::retrying,
                 .failure = FailureCategory::ssl,
                 .event_type = "order.paid",
                 .tenant_id = "acme"});
  const std::string text = metrics->text();
  EXPECT_TRUE(
      has_line(text,
               "webhook_deliveries_total{event_type=\"order.paid\",failure_category=\"none\","
               "status=\"success\",tenant_id=\"acme\"} 3"))
      << text;
  EXPECT_TRUE(has_line(text,
                       "webhook_deliveries_total{event_type=\"order.paid\",failure_category="
                       "\"timeout\",status=\"timeout\",tenant_id=\"acme\"} 1"));
  EXPECT_TRUE(has_line(text,
                       "webhook_deliveries_total{event_type=\"order.paid\",failure_category="
                       "\"ssl\",status=\"failure\",tenant_id=\"acme\"} 1"));
  EXPECT_TRUE(has_line(text, "postrider_delivery_states_total{state=\"succeeded\"} 3"));
  EXPECT_TRUE(has_line(text, "postrider_delivery_states_total{state=\"retrying\"} 1"));
  EXPECT_TRUE(has_line(text, "postrider_delivery_states_total{state=\"dead_letter\"} 1"));
  EXPECT_TRUE(has_line(text, "postrider_delivery_states_total{state=\"cancelled\"} 0"));
  EXPECT_TRUE(has_line(text, "webhook_retry_attempts_sum 8"));
  EXPECT_TRUE(has_line(text, "webhook_retry_attempts_count 4"));
  EXPECT_TRUE(has_line(text, "webhook_dlq_entries_total 1"));
  EXPECT_TRUE(has_line(text, "webhook_delivery_duration_seconds_count 5"));
  EXPECT_TRUE(has_line(text, "webhook_retry_attempt_number_sum{outcome=\"dead_letter\"} 12"));
}

TEST(Metrics, ShowHowLongDeliveriesTookFromThePublish) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  const std::unique_ptr<AttemptMeter> meter = metrics->make_attempt_meter();
  const std::string name = "postrider_publish_to_delivered_seconds";
  EXPECT_TRUE(has_line(metrics->text(), name + "_count 0"));
  meter->record({.delivered_after = Micros{2'000'000}});
  meter->record({.delivered_after = Micros{500'000'000'000}});
  meter->record({.delivered_after = std::nullopt});
  const std::string text = metrics->text();
  EXPECT_TRUE(has_line(text, "# TYPE " + name + " histogram")) << text;
  EXPECT_TRUE(has_line(text, name + "_bucket{le=\"1\"} 0")) << text;
  EXPECT_TRUE(has_line(text, name + "_bucket{le=\"2.5\"} 1"));
  EXPECT_TRUE(has_line(text, name + "_bucket{le=\"86400\"} 1"));
  EXPECT_TRUE(has_line(text, name + "_bucket{le=\"+Inf\"} 2"));
  EXPECT_TRUE(has_line(text, name + "_sum 500002"));
  EXPECT_TRUE(has_line(text, name + "_count 2"));
}

TEST(Metrics, ShowCountersWithKnownLabelsFromTheStart) {
  const std::string text = make_metrics()->text();
  for (const char* line :
       {"webhook_circuit_breaker_transitions_total{from_state=\"closed\",to_state=\"open\"} 0",
        "webhook_circuit_breaker_transitions_total{from_state=\"half_open\",to_state=\"open\"} 0",
        "postrider_publish_refused_total{reason=\"queue_full\"} 0",
        "postrider_retention_removed_total{kind=\"event\"} 0",
        "postrider_alerts_total{kind=\"store_failing\"} 0",
        "postrider_alerts_active{kind=\"messages_rejected\"} 0"}) {
    EXPECT_TRUE(has_line(text, line)) << line;
  }
}

TEST(Metrics, ShowOneStatePerCircuitAndForgetRemovedWebhooks) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  const WebhookId id{};
  metrics->circuit_changed(id, CircuitState::closed, CircuitState::open);
  std::string text = metrics->text();
  EXPECT_NE(text.find("state=\"open\",webhook_id=\"" + id.to_string() + "\"} 1"),
            std::string::npos);
  EXPECT_TRUE(
      has_line(text, "webhook_circuit_breaker_state{state=\"closed\",webhook_id=\"other\"} 0"));
  EXPECT_TRUE(has_line(text,
                       "webhook_circuit_breaker_transitions_total{from_state=\"closed\","
                       "to_state=\"open\"} 1"));
  metrics->webhook_removed(id);
  text = metrics->text();
  EXPECT_EQ(text.find(id.to_string()), std::string::npos);
  metrics->webhook_removed(id);  // Does nothing.
  metrics->circuit_restored(id, CircuitState::open);
  EXPECT_NE(metrics->text().find("state=\"open\",webhook_id=\"" + id.to_string() + "\"} 1"),
            std::string::npos);
}

TEST(Metrics, AddUpTheWorkers) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  metrics->shard_seen(0, {.in_flight = 9}, 10);  // Replaced by the next line.
  metrics->shard_seen(0,
                      {.in_flight = 5,
                       .in_flight_by_priority = {2, 3, 0},
                       .unsettled = 2,
                       .waiting = {1, 2, 3},
                       .circuits = {7, 1, 2},
                       .rate_limited_total = 3},
                      10);
  metrics->shard_seen(1,
                      {.in_flight = 1,
                       .unsettled = 4,
                       .waiting = {10, 20, 30},
                       .circuits = {1, 1, 1},
                       .rate_limited_total = 4},
                      10);
  metrics->waiting_counted({{{"a", {{100, 2, 40}}}}});
  metrics->dead_letters_changed("a", 3);
  metrics->dead_letters_changed("b", 4);
  metrics->tenant_loads_changed({{"a", {.in_flight = 5, .open_circuits = 1}}});
  metrics->tenant_loads_changed({{"b", {.in_flight = 1, .open_circuits = 1}}});
  EXPECT_EQ(metrics->current_load(std::nullopt),
            (CurrentLoad{.waiting = 136, .in_flight = 6, .dead_letters = 7, .open_circuits = 2}));
  EXPECT_EQ(metrics->current_load("a"),
            (CurrentLoad{.waiting = 137, .in_flight = 5, .dead_letters = 3, .open_circuits = 1}));
  const std::string text = metrics->text();
  EXPECT_TRUE(has_line(text, "webhook_queue_depth{priority=\"high\"} 98"));
  EXPECT_TRUE(has_line(text, "webhook_queue_depth{priority=\"normal\"} 0"));
  EXPECT_TRUE(has_line(text, "webhook_queue_depth{priority=\"low\"} 40"));
  EXPECT_TRUE(has_line(text, "postrider_deliveries_in_memory{priority=\"high\"} 11"));
  EXPECT_TRUE(has_line(text, "postrider_deliveries_in_memory{priority=\"low\"} 33"));
  EXPECT_TRUE(has_line(text, "postrider_deliveries_waiting 142"));
  EXPECT_TRUE(
      has_line(text, "webhook_circuit_breaker_state{state=\"closed\",webhook_id=\"other\"} 8"));
  EXPECT_TRUE(has_line(text, "webhook_worker_pool_utilization{pool_id=\"all\"} 0.6"));
  EXPECT_TRUE(has_line(text, "postrider_attempts_in_flight{pool_id=\"0\"} 5"));
  EXPECT_TRUE(has_line(text, "postrider_attempts_in_flight{pool_id=\"1\"} 1"));
  EXPECT_TRUE(has_line(text, "postrider_settlements_waiting{pool_id=\"1\"} 4"));
  EXPECT_TRUE(has_line(text, "postrider_circuits{state=\"closed\"} 8"));
  EXPECT_TRUE(has_line(text, "# TYPE webhook_rate_limited_requests_total counter"));
  EXPECT_TRUE(has_line(text, "webhook_rate_limited_requests_total 7"));
  EXPECT_TRUE(has_line(metrics->text(), "webhook_rate_limited_requests_total 7"));
}

TEST(Metrics, NameTheWorkerPoolWhoseSlotsAreShown) {
  const auto metrics = make_metrics("eu");
  metrics->shard_seen(0, {.in_flight = 3}, 12);
  EXPECT_TRUE(has_line(metrics->text(), "webhook_worker_pool_utilization{pool_id=\"eu\"} 0.25"));
}

TEST(Metrics, CountCommitsFailuresAndRefusals) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  metrics->committed({.publishes = 3, .settlements = 4, .duration = Micros{2'000'000}});
  metrics->committed({.publishes = 1, .settlements = 0, .duration = Micros{1'000'000}});
  metrics->store_failed();
  metrics->publish_refused("queue_full");
  metrics->publish_refused("queue_full");
  metrics->publish_refused("store");
  metrics->delivery_given_up(3);
  metrics->deliveries_entered(DeliveryState::pending, 5);
  metrics->waiting_cancelled({{{"a", {{1, 2, 0}}}}});
  metrics->alert_raised(AlertKind::queue_deep);
  metrics->alerts_changed(AlertKind::queue_deep, 2);
  metrics->alerts_changed(AlertKind::queue_deep, -1);
  metrics->retention_removed("attempt", 5);
  metrics->archive_failed();
  metrics->dead_letters_changed("acme", 3);
  metrics->dead_letters_changed("acme", -1);
  const std::string text = metrics->text();
  EXPECT_TRUE(has_line(text, "postrider_events_published_total 4"));
  EXPECT_TRUE(has_line(text, "postrider_store_commit_seconds_sum 3"));
  EXPECT_TRUE(has_line(text, "postrider_store_commit_batch_size_sum 8"));
  EXPECT_TRUE(has_line(text, "postrider_store_failures_total 1"));
  EXPECT_TRUE(has_line(text, "postrider_publish_refused_total{reason=\"queue_full\"} 2"));
  EXPECT_TRUE(has_line(text, "postrider_publish_refused_total{reason=\"store\"} 1"));
  EXPECT_TRUE(has_line(text, "webhook_dlq_entries_total 1"));
  EXPECT_TRUE(has_line(text, "webhook_retry_attempts_sum 2"));
  EXPECT_TRUE(has_line(text, "postrider_delivery_states_total{state=\"pending\"} 5"));
  EXPECT_TRUE(has_line(text, "postrider_delivery_states_total{state=\"dead_letter\"} 1"));
  EXPECT_TRUE(has_line(text, "postrider_delivery_states_total{state=\"cancelled\"} 3"));
  EXPECT_TRUE(has_line(text, "postrider_alerts_total{kind=\"queue_deep\"} 1"));
  EXPECT_TRUE(has_line(text, "postrider_alerts_active{kind=\"queue_deep\"} 1"));
  EXPECT_TRUE(has_line(text, "postrider_retention_removed_total{kind=\"attempt\"} 5"));
  EXPECT_TRUE(has_line(text, "postrider_archive_failures_total 1"));
  EXPECT_TRUE(has_line(text, "webhook_dlq_size{tenant_id=\"acme\"} 2"));
}

TEST(Metrics, CountDeadLettersThatOtherServersMakeAndRetry) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  EXPECT_FALSE(metrics->facts(0).dead_letters_known);
  metrics->dead_letters_changed("acme", -50);
  EXPECT_TRUE(has_line(metrics->text(), "webhook_dlq_size{tenant_id=\"acme\"} 0"));
  metrics->dead_letters_counted({{"acme", 3}, {"other", 2}});
  EXPECT_TRUE(metrics->facts(0).dead_letters_known);
  EXPECT_EQ(metrics->facts(2).dead_letters, (std::map<TenantId, std::int64_t>{{"acme", 3}}));
  metrics->dead_letters_changed("acme", -1);
  EXPECT_TRUE(has_line(metrics->text(), "webhook_dlq_size{tenant_id=\"acme\"} 2"));
  EXPECT_TRUE(has_line(metrics->text(), "webhook_dlq_size{tenant_id=\"other\"} 2"));
  metrics->dead_letters_counted({{"other", 1}});
  EXPECT_TRUE(has_line(metrics->text(), "webhook_dlq_size{tenant_id=\"acme\"} 0"));
  EXPECT_TRUE(has_line(metrics->text(), "webhook_dlq_size{tenant_id=\"other\"} 1"));
  EXPECT_EQ(metrics->current_load(std::nullopt).dead_letters, 1);
}

TEST(Metrics, ShowTheSamplesOfOthers) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  metrics->add_samples([] {
    return std::vector<MetricSample>{
        {.name = "x_bytes", .help = "Bytes", .labels = {{"file", "a"}}, .value = 1},
        {.name = "x_bytes", .help = "Bytes", .labels = {{"file", "b"}}, .value = 2},
        {.name = "x_total", .help = "Count", .is_total = true, .labels = {}, .value = 3}};
  });
  metrics->add_samples([] {
    return std::vector<MetricSample>{{.name = "y", .help = "Y", .labels = {}, .value = 4}};
  });
  const std::string text = metrics->text();
  EXPECT_TRUE(has_line(text, "# TYPE x_bytes gauge"));
  EXPECT_TRUE(has_line(text, "x_bytes{file=\"a\"} 1"));
  EXPECT_TRUE(has_line(text, "x_bytes{file=\"b\"} 2"));
  EXPECT_TRUE(has_line(text, "# TYPE x_total counter"));
  EXPECT_TRUE(has_line(text, "x_total 3"));
  EXPECT_TRUE(has_line(text, "y 4"));
}

TEST(Metrics, BoundTheLabelsOfTenantsAndEventTypes) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  const std::unique_ptr<AttemptMeter> meter = metrics->make_attempt_meter();
  for (std::uint8_t number = 0; number <= 100; ++number) {
    const std::string name = "n" + std::to_string(number);
    meter->record({.event_type = name, .tenant_id = name});
  }
  const std::string text = metrics->text();
  EXPECT_TRUE(has_line(text,
                       "webhook_deliveries_total{event_type=\"other\",failure_category=\"none\","
                       "status=\"success\",tenant_id=\"other\"} 1"));
  EXPECT_EQ(text.find("n100"), std::string::npos);
}

TEST(Metrics, SummarizeTheServerForAlerts) {
  const std::unique_ptr<Metrics> metrics = make_metrics();
  EXPECT_EQ(metrics->facts(0).attempts, 0u);
  EXPECT_EQ(metrics->facts(0).in_flight_max, 0u);
  EXPECT_FALSE(metrics->facts(0).waiting_known);
  const std::unique_ptr<AttemptMeter> one = metrics->make_attempt_meter();
  const std::unique_ptr<AttemptMeter> two = metrics->make_attempt_meter();
  one->record({.event_type = "a", .tenant_id = "t"});
  two->record({.state = DeliveryState::retrying,
               .failure = FailureCategory::timeout,
               .event_type = "a",
               .tenant_id = "t"});
  metrics->watch_slow_attempts(Millis{1'000});
  two->record({.state = DeliveryState::dead_letter,
               .failure = FailureCategory::timeout,
               .event_type = "a",
               .tenant_id = "t",
               .duration = Micros{1'000'001}});
  metrics->delivery_given_up(1);
  metrics->waiting_counted({{{"a", {{4, 6, 0}}}}});
  metrics->waiting_changed({{{"a", {{0, 5, 0}}}}});
  metrics->waiting_changed({{{"a", {{0, -7, 0}}}}});
  metrics->shard_seen(0, {.in_flight = 5}, 10);
  metrics->shard_seen(1, {.in_flight = 1}, 10);
  metrics->dead_letters_changed("few", 2);
  metrics->dead_letters_changed("many", 5);
  metrics->dead_letters_changed("many", -2);
  metrics->dead_letters_changed("gone", 3);
  metrics->dead_letters_changed("gone", -3);

  const ServerFacts facts = metrics->facts(2);
  EXPECT_EQ(facts.attempts, 3u);
  EXPECT_EQ(facts.successes, 1u);
  EXPECT_EQ(facts.ended, 3u);
  EXPECT_EQ(facts.new_dead_letters, 2u);
  EXPECT_EQ(facts.slow.count(), 1u);
  EXPECT_EQ(metrics->facts(2).slow.count(), 0u) << "each is told once";
  EXPECT_EQ(facts.waiting, 8);
  EXPECT_TRUE(facts.waiting_known);
  EXPECT_EQ(facts.in_flight, 6u);
  EXPECT_EQ(facts.in_flight_max, 10u);
  EXPECT_EQ(facts.dead_letters, (std::map<TenantId, std::int64_t>{{"many", 3}}));
  EXPECT_FALSE(metrics->facts(-1).dead_letters.contains("gone"));
  EXPECT_TRUE(has_line(metrics->text(), "postrider_deliveries_waiting 8"));
  metrics->waiting_counted(
      {{{"a", {{0, 0, 3}}}}});  // Replaces the count, as after a store failure.
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
