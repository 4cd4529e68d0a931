// What a ShardHost reports: circuits, alerts, disabled webhooks, waiting callers, and the drain.
#include <gtest/gtest.h>

#include "tests/support/shard_host_driver.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::ShardHostDriver;
using test::status;

using Waited = Result<std::optional<Settlement>>;

constexpr const char* open_to_closed_once =
    "webhook_circuit_breaker_transitions_total{from_state=\"open\",to_state=\"closed\"} 1";

void fails_fast(Webhook& webhook) {
  webhook.breaker.enabled = true;
  webhook.breaker.minimum_throughput = 1;
  webhook.breaker.failure_count_threshold = 2;
  webhook.max_in_flight = 1;
}

/// Lets attempts fail until the circuit opens.
void open_circuit(ShardHostDriver& driver, WebhookId webhook) {
  for (int i = 0; i < 20 && driver.alerts.empty(); ++i) {
    driver.admit(webhook);
    while (!driver.in_flight.empty()) {
      driver.finish(status(500));
    }
    driver.confirm_settlements();
  }
}

TEST(ShardHost, SavesTheLatestCircuitOncePerFlush) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::reset, {}});
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  EXPECT_TRUE(driver.circuits.empty());
  driver.run_posted();
  ASSERT_EQ(driver.circuits.size(), 1u);
  EXPECT_EQ(driver.circuits.front().webhook_id, webhook);
  EXPECT_EQ(driver.circuits.front().record.state, CircuitState::open);
}

TEST(ShardHost, CountsAndStreamsAChangedCircuit) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const auto acme = driver.stream.subscribe({.tenant_id = "acme"}, std::nullopt, [] {});
  const auto other = driver.stream.subscribe({.tenant_id = "other"}, std::nullopt, [] {});
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  EXPECT_TRUE(
      driver.has_metric("webhook_circuit_breaker_transitions_total{from_state=\"closed\",to_state="
                        "\"open\"} 1"))
      << driver.metrics->text();
  const StreamHub::Batch seen = (*acme)->take();
  ASSERT_EQ(seen.items.size(), 1u);
  EXPECT_EQ(seen.items.front().stream_event->webhook_id, webhook);
  const auto& update = std::get<CircuitUpdate>(seen.items.front().stream_event->what);
  EXPECT_EQ(update.from, CircuitState::closed);
  EXPECT_EQ(update.to, CircuitState::open);
  EXPECT_TRUE((*other)->take().items.empty());
}

TEST(ShardHost, CountsTheWayBackOfACircuit) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::reset, {}});
  EXPECT_TRUE(driver.has_metric(open_to_closed_once)) << driver.metrics->text();
}

TEST(ShardHost, ForgetsTheCircuitOfARemovedWebhook) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  EXPECT_NE(driver.metrics->text().find(webhook.to_string()), std::string::npos);
  driver.host().feed(WebhookRemoved{webhook});
  EXPECT_EQ(driver.metrics->text().find(webhook.to_string()), std::string::npos);
  driver.host().feed(WebhookChanged{.webhook = driver.last_webhook});
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  EXPECT_TRUE(driver.has_metric(
      "webhook_circuit_breaker_transitions_total{from_state=\"closed\",to_state=\"open\"} 2"))
      << driver.metrics->text();
}

TEST(ShardHost, RaisesTheAlertOfACircuitThatStaysOpen) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  driver.alerts.clear();
  driver.clock.advance(2h);
  driver.host().check_alerts();
  ASSERT_EQ(driver.alerts.size(), 1u);
  EXPECT_EQ(driver.alerts.front().subject, (AlertSubject{AlertKind::circuit_stays_open, webhook}));
}

TEST(ShardHost, CountsACircuitFromTheFutureFromNow) {
  ShardHostDriver driver;
  Webhook stored;
  stored.url = "https://receiver.example/";
  CircuitRecord record;
  record.state = CircuitState::open;
  record.changed_at = driver.clock.now().wall + 10h;
  record.forced_until = wall_time_max;
  record.forced_open = true;
  driver.host().feed(
      WebhookChanged{.webhook = std::make_shared<const Webhook>(stored), .circuit = record});
  driver.clock.advance(2h);
  driver.host().check_alerts();
  EXPECT_EQ(driver.alerts.size(), 1u);
}

TEST(ShardHost, ShowsHowManyAttemptsAreInFlight) {
  ShardHostDriver driver;
  driver.admit(driver.add_webhook());
  driver.run_posted();
  EXPECT_TRUE(driver.has_metric("postrider_attempts_in_flight{pool_id=\"0\"} 1"))
      << driver.metrics->text();
}

TEST(ShardHost, RemembersTheCircuitFromBeforeTheStart) {
  ShardHostDriver driver;
  Webhook stored;
  stored.url = "https://receiver.example/";
  CircuitRecord record;
  record.state = CircuitState::open;
  record.changed_at = driver.clock.now().wall;
  record.open_until = driver.clock.now().wall + 1h;
  driver.host().feed(
      WebhookChanged{.webhook = std::make_shared<const Webhook>(stored), .circuit = record});
  driver.admit(stored.id);
  EXPECT_TRUE(driver.in_flight.empty());
  driver.host().feed(CircuitCommanded{stored.id, CircuitAction::reset, {}});
  EXPECT_TRUE(driver.has_metric(open_to_closed_once)) << driver.metrics->text();
  EXPECT_TRUE(driver.has_metric(
      "webhook_circuit_breaker_transitions_total{from_state=\"closed\",to_state=\"open\"} 0"))
      << "it was open already";
}

TEST(ShardHost, RaisesAndResolvesTheAlertOfACircuit) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook(fails_fast);
  open_circuit(driver, webhook);
  ASSERT_FALSE(driver.alerts.empty());
  const AlertSubject subject{AlertKind::circuit_opened, webhook};
  EXPECT_EQ(driver.alerts.front().subject, subject);
  EXPECT_TRUE(driver.alerts.front().active);
  EXPECT_FALSE(driver.alerts.front().detail.empty());
  EXPECT_TRUE(driver.has_metric("postrider_alerts_total{kind=\"circuit_opened\"} 1"))
      << driver.metrics->text();
  driver.alerts.clear();
  driver.clock.advance(driver.last_webhook->breaker.sleep_max);
  for (int i = 0; i < 20 && driver.alerts.empty(); ++i) {
    driver.admit(webhook);
    driver.host().ring_alarm();
    while (!driver.in_flight.empty()) {
      driver.finish(status(200));
    }
    driver.confirm_settlements();
  }
  ASSERT_FALSE(driver.alerts.empty());
  EXPECT_EQ(driver.alerts.front().subject, subject) << "recovery resolves the opening";
  EXPECT_FALSE(driver.alerts.front().active);
}

/// Otherwise its next outage would be part of this one, and nobody would be told.
TEST(ShardHost, ResolvesTheAlertOfACircuitThatAUserCloses) {
  for (const CircuitAction action : {CircuitAction::reset, CircuitAction::force_close}) {
    ShardHostDriver driver;
    const WebhookId webhook = driver.add_webhook(fails_fast);
    open_circuit(driver, webhook);
    ASSERT_FALSE(driver.alerts.empty());
    driver.alerts.clear();
    driver.host().feed(CircuitCommanded{webhook, action, {}});
    ASSERT_EQ(driver.alerts.size(), 1u);
    EXPECT_EQ(driver.alerts.front().subject, (AlertSubject{AlertKind::circuit_opened, webhook}));
    EXPECT_FALSE(driver.alerts.front().active);
  }
}

TEST(ShardHost, RaisesTheAlertOfManyDeadLettersAndResolvesItLater) {
  ShardHostDriver driver{{.alerts = {.dead_letters_max = 2, .permanent_failures = false}}};
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.retry.attempts_max = 1; });
  for (int i = 0; i < 3; ++i) {
    driver.admit(webhook);
    driver.finish(status(500));
    driver.confirm_settlements();
  }
  ASSERT_EQ(driver.alerts.size(), 1u);
  EXPECT_TRUE(driver.alerts.front().active);
  driver.host().check_alerts();
  EXPECT_EQ(driver.alerts.size(), 1u);
  driver.clock.advance(2h);
  driver.host().check_alerts();
  ASSERT_EQ(driver.alerts.size(), 2u);
  EXPECT_EQ(driver.alerts.back().subject, driver.alerts.front().subject);
  EXPECT_FALSE(driver.alerts.back().active);
}

TEST(ShardHost, ResolvesARestoredAlertWhenItsReasonIsGone) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const AlertSubject subject{AlertKind::dead_letters, webhook};
  Alert alert;
  alert.subject = subject;
  driver.host().restore_alert(alert);
  driver.host().check_alerts();
  EXPECT_TRUE(driver.alerts.empty());
  driver.clock.advance(1h);
  driver.host().check_alerts();
  ASSERT_EQ(driver.alerts.size(), 1u);
  EXPECT_EQ(driver.alerts.front().subject, subject);
  EXPECT_FALSE(driver.alerts.front().active);
}

TEST(ShardHost, AppliesChangedAlertLimits) {
  ShardHostDriver driver;
  driver.host().change_alert_limits({.dead_letters_max = 1, .permanent_failures = false});
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.retry.attempts_max = 1; });
  for (int i = 0; i < 2; ++i) {
    driver.admit(webhook);
    driver.finish(status(500));
    driver.confirm_settlements();
  }
  EXPECT_EQ(driver.alerts.size(), 1u);
}

TEST(ShardHost, ForgetsTheAlertsOfARemovedWebhook) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  Alert alert;
  alert.subject = {AlertKind::dead_letters, webhook};
  driver.host().restore_alert(alert);
  driver.host().feed(WebhookRemoved{webhook});
  driver.host().check_alerts();
  EXPECT_TRUE(driver.alerts.empty());
}

TEST(ShardHost, DisablesAWebhookWhoseReceiverIsGone) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.finish(status(410));
  ASSERT_EQ(driver.disabled.size(), 1u);
  EXPECT_EQ(driver.disabled.front().id, webhook);
  EXPECT_FALSE(driver.disabled.front().reason.empty());
}

TEST(ShardHost, HandsSettlementsToTheStoreBeforeItReschedules) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  driver.finish(status(500));
  driver.change_webhook(*driver.last_webhook,
                        [](Webhook& each) { each.retry.delay_base = Millis{1}; });
  EXPECT_EQ(driver.calls, (std::vector<std::string>{"settle", "reschedule"}));
  EXPECT_EQ(driver.rescheduled, std::vector<WebhookId>{webhook});
}

TEST(ShardHost, DrainsWhenEverythingIsSettled) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook([](Webhook& each) { each.max_in_flight = 1; });
  driver.admit(webhook);
  driver.admit(webhook);
  driver.host().feed(DrainRequested{});
  driver.run_posted();
  EXPECT_EQ(driver.drained, 0);
  driver.finish(status(200));
  EXPECT_EQ(driver.drained, 0);
  driver.confirm_settlements();
  EXPECT_EQ(driver.drained, 1);
  EXPECT_TRUE(driver.in_flight.empty()) << "nothing more is started";
}

TEST(ShardHost, SavesCircuitsBeforeItReportsTheDrain) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.run_posted();
  driver.host().feed(CircuitCommanded{webhook, CircuitAction::force_open, {}});
  driver.host().feed(DrainRequested{});
  EXPECT_EQ(driver.calls, (std::vector<std::string>{"save_circuit", "drained"}));
}

TEST(ShardHost, HandsBackWhatIsInFlightWhenAbandoned) {  // P2, P10
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  driver.admit(webhook);
  const auto [event, loading] = driver.make_delivery(webhook);
  driver.host().feed(Admitted{{loading}});
  driver.run_posted();
  driver.host().feed(DrainRequested{});
  driver.host().abandon();
  EXPECT_TRUE(driver.in_flight.empty());
  driver.event_loads.front().done(std::vector<Event>{*event});
  driver.run_posted();
  EXPECT_TRUE(driver.in_flight.empty()) << "nothing is sent afterwards";
  EXPECT_TRUE(driver.settle_batches.empty()) << "no attempt is recorded";
  EXPECT_EQ(driver.drained, 1);
}

// ---------------------------------------------------------------- waiting callers

TEST(ShardHost, GivesAWaiterTheAttemptOnceItIsStored) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  std::optional<Waited> waited;
  const auto [event, delivery] = driver.make_delivery(webhook);
  driver.host().await_attempt({webhook, delivery.id}, 5s,
                              [&](Waited result) { waited = std::move(result); });
  ShardReplies replies;
  replies.events.push_back(event);
  replies.inputs.emplace_back(Admitted{{delivery}});
  driver.host().receive(std::move(replies));
  driver.finish(status(200));
  driver.run_posted();
  EXPECT_FALSE(waited) << "not stored yet";
  driver.confirm_settlements();
  ASSERT_TRUE(waited && *waited && **waited);
  EXPECT_EQ((**waited)->attempt->outcome.http_status, 200);
  EXPECT_EQ((**waited)->delivery.id, delivery.id);
}

TEST(ShardHost, EndsAWaiterAtItsDeadline) {
  ShardHostDriver driver;
  std::optional<Waited> waited;
  driver.host().await_attempt({}, 5s, [&](Waited result) { waited = std::move(result); });
  EXPECT_EQ(driver.alarm, driver.clock.now().mono + 5s);
  driver.clock.advance(4s);
  driver.alarm.reset();
  driver.host().ring_alarm();
  EXPECT_FALSE(waited);
  ASSERT_TRUE(driver.alarm) << "set again";
  driver.ring();
  ASSERT_TRUE(waited && *waited);
  EXPECT_EQ(**waited, std::nullopt);
}

TEST(ShardHost, KeepsTheShardsAlarmWhileACallerWaits) {
  ShardHostDriver driver;
  const WebhookId webhook =
      driver.add_webhook([](Webhook& each) { each.retry.delay_base = Millis{1'000}; });
  driver.admit(webhook);
  driver.finish(status(500));
  driver.confirm_settlements();
  const MonoTime retry = *driver.alarm;
  driver.host().await_attempt({}, 24h, [](const Waited&) {});
  EXPECT_EQ(*driver.alarm, retry);
  driver.ring();
  EXPECT_EQ(driver.in_flight.size(), 1u);
}

TEST(ShardHost, FailsWaitersThatCannotBeServed) {
  ShardHostDriver driver;
  std::vector<Error> errors;
  const auto wait = [&](std::uint8_t number) {
    DeliveryId id;
    id.bytes[15] = number;
    driver.host().await_attempt({{}, id}, 5s,
                                [&](const Waited& result) { errors.push_back(result.error()); });
    return id;
  };
  const DeliveryId first = wait(1);
  wait(2);
  driver.host().fail_waiter(first, Error{Errc::unavailable, "The store failed."});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.front().message, "The store failed.");
  driver.host().feed(DrainRequested{});
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors.back().code, Errc::unavailable);
}

TEST(ShardHost, RunsCompletionsAfterTheInputsOfATurn) {
  ShardHostDriver driver;
  const WebhookId webhook = driver.add_webhook();
  const auto [event, delivery] = driver.make_delivery(webhook);
  ShardReplies replies;
  replies.events.push_back(event);
  replies.inputs.emplace_back(Admitted{{delivery}});
  bool sent_before = false;
  replies.completions.emplace_back([&] { sent_before = !driver.in_flight.empty(); });
  driver.host().receive(std::move(replies));
  EXPECT_TRUE(sent_before);
}

}  // namespace
}  // namespace postrider
