#include "engine/alerts/alert_rules.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const WebhookId webhook{{1}};
const WebhookId other{{2}};

class Alerts : public testing::Test {
 protected:
  Alerts() {
    limits_.permanent_failures = false;  // permanent_failure_test.cc
    rules_.change(limits_);
  }

  std::vector<AlertChange> dead_letter(WallTime at, WebhookId id = webhook) {
    return rules_.on_attempt({.webhook_id = id, .dead = true}, at);
  }
  std::vector<AlertChange> attempt(bool dns_failed, WallTime at) {
    return rules_.on_attempt({.webhook_id = webhook, .dns_failed = dns_failed}, at);
  }

  AlertLimits limits_;
  AlertRules rules_;
};

Alert active(AlertKind kind, WebhookId id = webhook) {
  Alert alert;
  alert.subject = {kind, id};
  alert.raised_at = noon - 1min;
  return alert;
}

AlertChange over(AlertKind kind, WebhookId id = webhook) {
  return {.subject = {kind, id}, .active = false, .detail = {}};
}

TEST_F(Alerts, ElevenDeadLettersWithinAnHourRaiseAnAlert) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(dead_letter(noon).empty());
  }
  const std::vector<AlertChange> raised = dead_letter(noon + 1h - 1ms);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].subject, (AlertSubject{AlertKind::dead_letters, webhook}));
  EXPECT_TRUE(raised[0].active);
  EXPECT_EQ(raised[0].detail, "11 deliveries became dead letters within 60 minutes, more than 10.");
  EXPECT_EQ(raised[0].measure, (AlertMeasure{.count = 11, .limit = 10}));
  EXPECT_TRUE(dead_letter(noon + 1h - 1ms).empty());  // Raised only once.
}

TEST_F(Alerts, ElevenDeadLettersInMoreThanAnHourRaiseNoAlert) {
  EXPECT_TRUE(dead_letter(noon).empty());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(dead_letter(noon + 1h).empty());
  }
  EXPECT_EQ(dead_letter(noon + 1h).size(), 1u);
}

TEST_F(Alerts, CountsDeadLettersPerWebhook) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(dead_letter(noon).empty());
    EXPECT_TRUE(dead_letter(noon, other).empty());
  }
}

TEST_F(Alerts, DeadLetterAlertResolvesAfterAnHourAndCanBeRaisedAgain) {
  for (int i = 0; i < 11; ++i) {
    (void)dead_letter(noon);
  }
  EXPECT_TRUE(rules_.evaluate(noon + 1h - 1ms).empty());
  EXPECT_EQ(rules_.evaluate(noon + 1h), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
  EXPECT_TRUE(rules_.evaluate(noon + 1h).empty());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(dead_letter(noon + 2h).empty());
  }
  EXPECT_EQ(dead_letter(noon + 2h).size(), 1u);
}

TEST_F(Alerts, ThreeDnsFailuresRaiseAnAlert) {
  EXPECT_TRUE(attempt(true, noon).empty());
  EXPECT_TRUE(attempt(true, noon).empty());
  const std::vector<AlertChange> raised = attempt(true, noon);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].subject, (AlertSubject{AlertKind::dns_failing, webhook}));
  EXPECT_EQ(raised[0].detail,
            "3 of 3 attempts (100 %) within 10 minutes failed because the host name did not "
            "resolve, more than 80 %.");
  EXPECT_EQ(raised[0].measure, (AlertMeasure{100, 80, AlertUnit::percent}));
  EXPECT_TRUE(attempt(true, noon).empty());
}

TEST_F(Alerts, ExactlyEightyPercentDnsFailuresRaiseNoAlert) {
  EXPECT_TRUE(attempt(false, noon).empty());
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(attempt(true, noon).empty());
  }
  EXPECT_EQ(attempt(true, noon).size(), 1u);  // Five of six.
}

TEST_F(Alerts, DnsAlertResolvesWhenTheShareHasFallen) {
  for (int i = 0; i < 4; ++i) {
    (void)attempt(true, noon);
  }
  EXPECT_EQ(attempt(false, noon), (std::vector<AlertChange>{over(AlertKind::dns_failing)}));
}

TEST_F(Alerts, IgnoresDnsFailuresOlderThanTenMinutes) {
  for (int i = 0; i < 3; ++i) {
    (void)attempt(true, noon);
  }
  EXPECT_TRUE(rules_.evaluate(noon + 10min - 1ms).empty());
  EXPECT_EQ(rules_.evaluate(noon + 10min),
            (std::vector<AlertChange>{over(AlertKind::dns_failing)}));
}

TEST_F(Alerts, AnAlertRestoredAfterARestartResolvesWhenItsWindowHasPassed) {
  rules_.restore(active(AlertKind::dead_letters));
  rules_.restore(active(AlertKind::dns_failing, other));
  rules_.restore(active(AlertKind::webhook_failing, other));
  Alert of_server = active(AlertKind::store_failing);
  of_server.subject.webhook_id.reset();
  rules_.restore(of_server);
  EXPECT_TRUE(rules_.evaluate(noon).empty());
  EXPECT_TRUE(rules_.evaluate(noon + 5min - 1ms).empty());
  EXPECT_EQ(rules_.evaluate(noon + 5min),
            (std::vector<AlertChange>{over(AlertKind::webhook_failing, other)}));
  EXPECT_EQ(rules_.evaluate(noon + 10min),
            (std::vector<AlertChange>{over(AlertKind::dns_failing, other)}));
  EXPECT_TRUE(rules_.evaluate(noon + 1h - 1ms).empty());
  EXPECT_EQ(rules_.evaluate(noon + 1h), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
}

TEST_F(Alerts, ARestoredAlertResolvesEarlierIfEnoughAttemptsAreGood) {
  rules_.restore(active(AlertKind::dns_failing));
  EXPECT_TRUE(rules_.evaluate(noon).empty());
  EXPECT_TRUE(attempt(false, noon).empty());
  EXPECT_TRUE(attempt(false, noon).empty());
  EXPECT_EQ(attempt(false, noon), (std::vector<AlertChange>{over(AlertKind::dns_failing)}));
}

TEST_F(Alerts, AnAlertOfAWebhookThatComesFromAnotherNodeKeepsItsWindow) {
  EXPECT_TRUE(rules_.on_attempt({.webhook_id = other}, noon).empty());
  rules_.restore(active(AlertKind::dead_letters));
  EXPECT_TRUE(rules_.evaluate(noon + 2h).empty());
  EXPECT_TRUE(rules_.evaluate(noon + 3h - 1ms).empty());
  EXPECT_EQ(rules_.evaluate(noon + 3h), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
}

TEST_F(Alerts, ARestoredAlertIsNotRaisedTwice) {
  rules_.restore(active(AlertKind::dead_letters));
  for (int i = 0; i < 11; ++i) {
    EXPECT_TRUE(dead_letter(noon).empty());
  }
  EXPECT_TRUE(rules_.evaluate(noon + 1h - 1ms).empty());
  EXPECT_EQ(rules_.evaluate(noon + 1h), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
}

TEST_F(Alerts, DeadLettersSpreadOverALongTimeRaiseNoAlert) {
  for (int minute = 0; minute < 1000; ++minute) {
    EXPECT_TRUE(dead_letter(noon + minute * 10min).empty());  // Six an hour.
  }
}

TEST_F(Alerts, ALowerLimitAppliesToEarlierDeadLetters) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(dead_letter(noon).empty());
  }
  limits_.dead_letters_max = 4;
  rules_.change(limits_);
  const std::vector<AlertChange> raised = rules_.evaluate(noon);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].detail, "5 deliveries became dead letters within 60 minutes, more than 4.");
  limits_.dead_letters_max = 5;
  rules_.change(limits_);
  EXPECT_EQ(rules_.evaluate(noon), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
}

// ---------------------------------------------------------------- failures

/// Makes an attempt every ten seconds and evaluates the rules after each, as the server does.
class Failing : public Alerts {
 protected:
  /// The first `failures` of every ten attempts fail. Returns what was raised or resolved, and
  /// when.
  struct Told {
    WallTime at;
    AlertChange change;
  };
  std::vector<Told> run(int failures, Millis length) {
    std::vector<Told> changes;
    for (const WallTime end = now_ + length; now_ < end; now_ += 10s) {
      EXPECT_TRUE(
          rules_.on_attempt({.webhook_id = webhook, .failed = count_++ % 10 < failures}, now_)
              .empty());
      for (AlertChange& change : rules_.evaluate(now_)) {
        changes.push_back({now_, std::move(change)});
      }
    }
    return changes;
  }

  WallTime now_ = noon;
  int count_ = 0;
};

TEST_F(Failing, ExactlyTenPercentFailuresRaiseNoAlert) { EXPECT_TRUE(run(1, 1h).empty()); }

TEST_F(Failing, TwentyPercentFailuresForTenMinutesRaiseAnAlertUntilFewerFail) {
  const std::vector<Told> raised = run(2, 30min);
  ASSERT_EQ(raised.size(), 1u);
  // The tenth attempt is made after 90 seconds; the alert is raised ten minutes later.
  EXPECT_EQ(raised[0].at, noon + 90s + 10min);
  EXPECT_EQ(raised[0].change.subject, (AlertSubject{AlertKind::webhook_failing, webhook}));
  EXPECT_EQ(
      raised[0].change.detail,
      "4 of 28 attempts (14.286 %) within 5 minutes failed. It has been more than 10 % for 10 "
      "minutes.");
  EXPECT_EQ(raised[0].change.measure, (AlertMeasure{14.286, 10, AlertUnit::percent}));
  const std::vector<Told> ended = run(0, 30min);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].change, over(AlertKind::webhook_failing));
  EXPECT_LE(ended[0].at, noon + 30min + 5min);
}

TEST_F(Failing, ARecoveryInBetweenRestartsTheTenMinutes) {
  EXPECT_TRUE(run(10, 5min).empty());
  EXPECT_TRUE(run(0, 5min).empty());
  EXPECT_TRUE(run(10, 5min).empty());
}

TEST_F(Failing, FewerThanTenAttemptsRaiseNoAlert) {
  for (int hour = 0; hour < 5; ++hour) {
    EXPECT_TRUE(run(10, 90s).empty());  // Nine.
    now_ += 4min;
  }
}

TEST_F(Failing, ResolvesWhenThereAreNoMoreAttempts) {
  ASSERT_EQ(run(10, 20min).size(), 1u);
  const WallTime last = now_ - 10s;
  EXPECT_TRUE(
      rules_.evaluate(last + 3min).empty());  // Twelve attempts are within the last five minutes.
  EXPECT_EQ(rules_.evaluate(last + 4min),
            (std::vector<AlertChange>{over(AlertKind::webhook_failing)}));
  EXPECT_TRUE(rules_.evaluate(last + 1h).empty());
}

TEST_F(Failing, AnAlertRestoredAfterARestartStaysWhileAttemptsFail) {
  rules_.restore(active(AlertKind::webhook_failing));
  EXPECT_TRUE(run(10, 1h).empty());
  ASSERT_EQ(run(0, 1h).size(), 1u);
}

TEST_F(Failing, AChangedWindowRestartsTheCount) {
  ASSERT_EQ(run(10, 20min).size(), 1u);
  AlertLimits limits;
  limits.share_window = 1min;
  rules_.change(limits);
  EXPECT_EQ(rules_.evaluate(now_), (std::vector<AlertChange>{over(AlertKind::webhook_failing)}));
}

TEST_F(Failing, WithoutAMinimumDurationOneEvaluationRaisesTheAlert) {
  AlertLimits limits;
  limits.failing_for = 0min;
  rules_.change(limits);
  const std::vector<Told> raised = run(10, 90s + 10s);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].at, noon + 90s);
}

// ---------------------------------------------------------------- circuits

TEST_F(Alerts, ACircuitOpenForMoreThanAnHourRaisesAnAlertUntilItCloses) {
  rules_.on_circuit(webhook, CircuitState::open, noon);
  EXPECT_TRUE(rules_.evaluate(noon + 1h).empty());
  const std::vector<AlertChange> raised = rules_.evaluate(noon + 1h + 1ms);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].subject, (AlertSubject{AlertKind::circuit_stays_open, webhook}));
  EXPECT_EQ(raised[0].detail,
            "The circuit has not been closed for 3600001 ms, more than 60 minutes.");
  EXPECT_EQ(raised[0].measure, (AlertMeasure{3'600'001, 3'600'000, AlertUnit::ms}));
  EXPECT_TRUE(rules_.evaluate(noon + 2h).empty());
  rules_.on_circuit(webhook, CircuitState::closed, noon + 2h);
  EXPECT_EQ(rules_.evaluate(noon + 2h),
            (std::vector<AlertChange>{over(AlertKind::circuit_stays_open)}));
}

TEST_F(Alerts, FailedProbesDoNotRestartTheHour) {
  for (int minutes = 0; minutes <= 50; minutes += 10) {
    rules_.on_circuit(webhook, CircuitState::open, noon + minutes * 1min);
    rules_.on_circuit(webhook, CircuitState::half_open, noon + minutes * 1min + 5min);
  }
  EXPECT_TRUE(rules_.evaluate(noon + 1h).empty());
  rules_.on_circuit(webhook, CircuitState::open, noon + 1h);
  EXPECT_EQ(rules_.evaluate(noon + 1h + 1ms).size(), 1u);
}

TEST_F(Alerts, AHalfOpenCircuitRaisesNoAlert) {
  rules_.on_circuit(webhook, CircuitState::open, noon);
  rules_.on_circuit(webhook, CircuitState::half_open, noon + 30s);
  EXPECT_TRUE(rules_.evaluate(noon + 2h).empty());
}

TEST_F(Alerts, AProbeDoesNotResolveTheAlert) {
  rules_.on_circuit(webhook, CircuitState::open, noon);
  EXPECT_EQ(rules_.evaluate(noon + 1h + 1ms).size(), 1u);
  rules_.on_circuit(webhook, CircuitState::half_open, noon + 61min);
  EXPECT_TRUE(rules_.evaluate(noon + 62min).empty());
}

TEST_F(Alerts, ACircuitThatClosesInTimeRaisesNoAlert) {
  rules_.on_circuit(webhook, CircuitState::open, noon);
  rules_.on_circuit(webhook, CircuitState::closed, noon + 59min);
  rules_.on_circuit(webhook, CircuitState::open, noon + 60min);
  EXPECT_TRUE(rules_.evaluate(noon + 2h).empty());
  EXPECT_EQ(rules_.evaluate(noon + 2h + 1ms).size(), 1u);
}

TEST_F(Alerts, ACircuitStillOpenAfterARestartKeepsItsAlert) {
  rules_.restore(active(AlertKind::circuit_stays_open));
  rules_.restore(active(AlertKind::circuit_stays_open, other));
  rules_.on_circuit(webhook, CircuitState::open, noon - 2h);
  EXPECT_EQ(rules_.evaluate(noon),
            (std::vector<AlertChange>{over(AlertKind::circuit_stays_open, other)}));
}

TEST_F(Alerts, ARemovedWebhookRaisesNoAlerts) {
  for (int i = 0; i < 11; ++i) {
    (void)dead_letter(noon);
  }
  rules_.forget(webhook);
  EXPECT_TRUE(rules_.evaluate(noon + 2h).empty());
}

}  // namespace
}  // namespace postrider
