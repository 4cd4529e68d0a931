#include "engine/alerts/server_alert_rules.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
using Changes = std::vector<AlertChange>;

AlertChange raised(AlertKind kind, std::string detail, AlertMeasure measure) {
  return {.subject = {kind, std::nullopt},
          .active = true,
          .detail = std::move(detail),
          .measure = measure};
}
AlertChange over(AlertKind kind) {
  return {.subject = {kind, std::nullopt}, .active = false, .detail = {}};
}

AlertSubject of_tenant(const TenantId& tenant_id) {
  return {
      .kind = AlertKind::dead_letters_waiting, .webhook_id = std::nullopt, .tenant_id = tenant_id};
}

// ---------------------------------------------------------------- successes

TEST(SuccessAlert, LessThanNinetyPercentSuccessesRaiseAnAlert) {
  ServerAlertRules rules;
  EXPECT_TRUE(rules.evaluate({.attempts = 1000, .successes = 900}, noon).empty());
  EXPECT_EQ(rules.evaluate({.attempts = 1001, .successes = 900}, noon),
            (Changes{raised(AlertKind::success_low,
                            "900 of 1001 attempts (89.91 %) of the last 5 minutes succeeded, fewer "
                            "than 90 %.",
                            {89.91, 90, AlertUnit::percent})}));
  EXPECT_TRUE(
      rules.evaluate({.attempts = 1001, .successes = 900}, noon).empty());  // Raised only once.
  EXPECT_EQ(rules.evaluate({.attempts = 1011, .successes = 910}, noon),
            (Changes{over(AlertKind::success_low)}));
}

TEST(SuccessAlert, FewerThanTenAttemptsRaiseNoAlert) {
  ServerAlertRules rules;
  EXPECT_TRUE(rules.evaluate({.attempts = 9}, noon).empty());
  EXPECT_EQ(rules.evaluate({.attempts = 10}, noon).size(), 1u);
}

TEST(SuccessAlert, CountsTheLastFiveMinutesOnly) {
  ServerAlertRules rules;
  EXPECT_EQ(rules.evaluate({.attempts = 100}, noon).size(), 1u);
  EXPECT_TRUE(rules.evaluate({.attempts = 100}, noon + 5min - 1ms).empty());
  EXPECT_EQ(rules.evaluate({.attempts = 100}, noon + 5min),
            (Changes{over(AlertKind::success_low)}));
  EXPECT_TRUE(rules.evaluate({.attempts = 200, .successes = 100}, noon + 5min).empty());
}

TEST(SuccessAlert, ASuccessCountedLateIsNotLost) {
  ServerAlertRules rules;
  EXPECT_EQ(rules.evaluate({.attempts = 10, .successes = 8}, noon).size(), 1u);
  EXPECT_TRUE(rules.evaluate({.attempts = 10, .successes = 10}, noon).empty());  // No new attempt.
  EXPECT_EQ(rules.evaluate({.attempts = 20, .successes = 20}, noon),
            (Changes{over(AlertKind::success_low)}));
}

// ---------------------------------------------------------------- failures

/// Evaluates every minute. Of the 100 attempts of each minute, `failures` fail.
class TotalFailures : public testing::Test {
 protected:
  Changes run(std::uint64_t failures, int minutes) {
    Changes changes;
    for (int i = 0; i < minutes; ++i) {
      now_ += 1min;
      facts_.attempts += 100;
      facts_.successes += 100 - failures;
      for (AlertChange& change : rules_.evaluate(facts_, now_)) {
        if (change.subject.kind == AlertKind::total_failures) {
          changes.push_back(std::move(change));
        }
      }
    }
    return changes;
  }

  ServerAlertRules rules_;
  ServerFacts facts_;
  WallTime now_ = noon;
};

TEST_F(TotalFailures, MoreThanTenPercentForTenMinutesRaiseAnAlertUntilFewerFail) {
  EXPECT_TRUE(run(10, 60).empty());
  EXPECT_TRUE(run(20, 10).empty());
  EXPECT_EQ(run(20, 1),
            (Changes{raised(AlertKind::total_failures,
                            "100 of 500 attempts (20 %) of the last 5 minutes failed. It has been "
                            "more than 10 % for 10 minutes.",
                            {20, 10, AlertUnit::percent})}));
  EXPECT_TRUE(run(20, 30).empty());
  EXPECT_EQ(run(0, 10), (Changes{over(AlertKind::total_failures)}));
}

TEST_F(TotalFailures, ARecoveryRestartsTheTenMinutes) {
  EXPECT_TRUE(run(50, 4).empty());
  EXPECT_TRUE(run(0, 6).empty());
  EXPECT_TRUE(run(50, 9).empty());
  EXPECT_EQ(run(50, 3).size(), 1u);
}

TEST_F(TotalFailures, ZeroSwitchesTheAlertOff) {
  EXPECT_EQ(run(100, 20).size(), 1u);
  AlertLimits limits;
  limits.total_failures_max = 0;
  rules_.change(limits);
  EXPECT_EQ(run(100, 20), (Changes{over(AlertKind::total_failures)}));
}

TEST_F(TotalFailures, AnAlertRestoredAfterARestartStaysWhileAttemptsFail) {
  rules_.restore({AlertKind::total_failures, std::nullopt});
  EXPECT_TRUE(rules_.evaluate(facts_, noon).empty());
  EXPECT_TRUE(run(20, 20).empty());
  EXPECT_EQ(run(0, 10), (Changes{over(AlertKind::total_failures)}));
}

// ---------------------------------------------------------------- slow attempts

class P99 : public testing::Test {
 protected:
  /// `slow` of the attempts take 40 s.
  Changes attempts(std::uint64_t count, std::uint64_t slow, WallTime at) {
    facts_.attempts += count;
    facts_.successes += count;
    facts_.slow = {};
    facts_.slow.add(DurationHistogram::bucket_of(40s), slow);
    return rules_.evaluate(facts_, at);
  }

  ServerAlertRules rules_;
  ServerFacts facts_;
};

TEST_F(P99, OneSlowAttemptInAHundredRaisesNoAlert) {
  EXPECT_TRUE(attempts(100, 1, noon).empty());
  EXPECT_TRUE(attempts(100, 1, noon).empty());
  const Changes changes = attempts(0, 1, noon);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].subject, (AlertSubject{AlertKind::p99_high, std::nullopt}));
  EXPECT_EQ(changes[0].measure->limit, 30'000);
  EXPECT_NEAR(changes[0].measure->count, 40'000, 40'000 * 0.07);
  EXPECT_EQ(changes[0].measure->unit, AlertUnit::ms);
  EXPECT_TRUE(changes[0].detail.starts_with(
      "3 of 200 attempts of the last 5 minutes took longer than 30000 ms."))
      << changes[0].detail;
}

TEST_F(P99, FewerThanTenAttemptsRaiseNoAlert) {
  EXPECT_TRUE(attempts(9, 9, noon).empty());
  EXPECT_EQ(attempts(1, 0, noon).size(), 1u);
}

TEST_F(P99, ResolvesWhenTheSlowAttemptsAreOutOfTheWindow) {
  EXPECT_EQ(attempts(100, 100, noon).size(), 1u);
  EXPECT_TRUE(attempts(0, 0, noon + 5min - 1ms).empty());
  EXPECT_EQ(attempts(0, 0, noon + 5min), (Changes{over(AlertKind::p99_high)}));
}

TEST_F(P99, ADurationJustOverTheLimitIsShownAsOverTheLimit) {
  facts_ = {.attempts = 100, .successes = 100};
  facts_.slow.add(DurationHistogram::bucket_of(30'001ms), 100);
  const Changes changes = rules_.evaluate(facts_, noon);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_GT(changes[0].measure->count, changes[0].measure->limit);
}

TEST_F(P99, ZeroSwitchesTheAlertOff) {
  EXPECT_EQ(attempts(100, 100, noon).size(), 1u);
  AlertLimits limits;
  limits.p99_max = 0ms;
  rules_.change(limits);
  EXPECT_EQ(attempts(100, 0, noon), (Changes{over(AlertKind::p99_high)}));
}

// ---------------------------------------------------------------- dead letters of the server

class ServerDeadLetters : public testing::Test {
 protected:
  Changes evaluate(std::uint64_t ended, std::uint64_t dead, WallTime at) {
    facts_.ended += ended;
    facts_.new_dead_letters += dead;
    return rules_.evaluate(facts_, at);
  }

  ServerAlertRules rules_;
  ServerFacts facts_;
};

TEST_F(ServerDeadLetters, MoreThanAHundredInAnHourRaiseAnAlert) {
  EXPECT_TRUE(evaluate(100'000, 60, noon).empty());
  EXPECT_TRUE(evaluate(40, 40, noon + 50min).empty());
  EXPECT_EQ(evaluate(1, 1, noon + 59min),
            (Changes{raised(AlertKind::total_dead_letters,
                            "101 deliveries became dead letters within 60 minutes, more than 100.",
                            {101, 100})}));
  EXPECT_EQ(evaluate(0, 0, noon + 60min), (Changes{over(AlertKind::total_dead_letters)}));
}

TEST_F(ServerDeadLetters, MoreThanOnePercentOfTheDeliveriesRaiseAnAlert) {
  EXPECT_TRUE(evaluate(3, 1, noon).empty());
  EXPECT_TRUE(evaluate(96, 1, noon).empty());  // Two of 99: fewer than a hundred deliveries.
  EXPECT_EQ(evaluate(1, 0, noon),
            (Changes{raised(AlertKind::dead_letter_share,
                            "2 of 100 deliveries (2 %) that ended within 60 minutes became dead "
                            "letters, more than 1 %.",
                            {2, 1, AlertUnit::percent})}));
  EXPECT_EQ(evaluate(100, 0, noon), (Changes{over(AlertKind::dead_letter_share)}));
}

TEST_F(ServerDeadLetters, ZeroSwitchesBothAlertsOff) {
  EXPECT_EQ(evaluate(200, 200, noon).size(), 2u);
  AlertLimits limits;
  limits.total_dead_letters_max = 0;
  limits.dead_letter_share_max = 0;
  rules_.change(limits);
  EXPECT_EQ(evaluate(200, 200, noon),
            (Changes{over(AlertKind::total_dead_letters), over(AlertKind::dead_letter_share)}));
}

TEST_F(ServerDeadLetters, ThoseBeforeTheStartCount) {
  rules_.recall({.total = 1'000'000, .part = 60}, noon - 50min);
  rules_.recall({.total = 40, .part = 40}, noon - 5min);
  EXPECT_TRUE(evaluate(0, 0, noon).empty());
  EXPECT_EQ(evaluate(1, 1, noon).size(), 1u);
}

TEST_F(ServerDeadLetters, AnAlertRestoredAfterARestartEndsWhenItsWindowHasPassed) {
  rules_.restore({AlertKind::total_dead_letters, std::nullopt});
  rules_.restore({AlertKind::dead_letter_share, std::nullopt});
  EXPECT_TRUE(evaluate(0, 0, noon).empty());
  EXPECT_EQ(evaluate(100, 0, noon), (Changes{over(AlertKind::dead_letter_share)}));
  EXPECT_TRUE(evaluate(0, 0, noon + 1h - 1ms).empty());
  EXPECT_EQ(evaluate(0, 0, noon + 1h), (Changes{over(AlertKind::total_dead_letters)}));
}

// ---------------------------------------------------------------- levels

TEST(QueueAlert, IsRaisedAboveTheLimit) {
  ServerAlertRules rules;
  EXPECT_TRUE(rules.evaluate({.waiting = 10'000}, noon).empty());
  EXPECT_EQ(rules.evaluate({.waiting = 10'001}, noon),
            (Changes{raised(AlertKind::queue_deep, "10001 deliveries are waiting, more than 10000.",
                            {10'001, 10'000})}));
}

TEST(QueueAlert, ResolvesAfterFiveSecondsBelowTheLimit) {
  ServerAlertRules rules;
  EXPECT_EQ(rules.evaluate({.waiting = 10'001}, noon).size(), 1u);
  EXPECT_TRUE(rules.evaluate({.waiting = 0}, noon + 4s).empty());
  EXPECT_TRUE(rules.evaluate({.waiting = 10'001}, noon + 4s).empty());
  EXPECT_TRUE(rules.evaluate({.waiting = 10'000}, noon + 9s - 1ms).empty());
  EXPECT_EQ(rules.evaluate({.waiting = 10'000}, noon + 9s), (Changes{over(AlertKind::queue_deep)}));
  EXPECT_TRUE(rules.evaluate({.waiting = 10'000}, noon + 9s).empty());
}

TEST(ResourcesAlert, IsRaisedWhileAttemptsArePostponed) {
  ServerAlertRules rules;
  EXPECT_TRUE(rules.evaluate({.postponed = 0}, noon).empty());
  const Changes changes = rules.evaluate({.postponed = 3}, noon);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].subject, (AlertSubject{AlertKind::server_resources_short, std::nullopt}));
  EXPECT_TRUE(changes[0].active);
  EXPECT_EQ(changes[0].measure, (AlertMeasure{.count = 3, .limit = 0}));
  EXPECT_TRUE(changes[0].detail.starts_with("3 attempts wait because this server lacks"));
  EXPECT_TRUE(rules.evaluate({.postponed = 4}, noon + 1s).empty()) << "raised only once";
  EXPECT_TRUE(rules.evaluate({.postponed = 4}, noon + 6s - 1ms).empty());
  EXPECT_EQ(rules.evaluate({.postponed = 4}, noon + 6s),
            (Changes{over(AlertKind::server_resources_short)}));
}

TEST(QueueAlert, FromBeforeTheStartIsKeptUntilTheDeliveriesAreCounted) {
  ServerAlertRules rules;
  rules.restore({AlertKind::queue_deep, std::nullopt});
  EXPECT_TRUE(rules.evaluate({.waiting = 0, .waiting_known = false}, noon).empty());
  EXPECT_TRUE(rules.evaluate({.waiting = 10'001}, noon + 1s).empty());
  EXPECT_EQ(rules.evaluate({.waiting = 10'000}, noon + 6s), (Changes{over(AlertKind::queue_deep)}));
}

TEST(ResourcesAlert, FromBeforeTheStartIsResolved) {
  ServerAlertRules rules;
  rules.restore({AlertKind::server_resources_short, std::nullopt});
  EXPECT_EQ(rules.evaluate({}, noon), (Changes{over(AlertKind::server_resources_short)}));
}

TEST(PoolAlert, IsRaisedAboveEightyPercent) {
  ServerAlertRules rules;
  EXPECT_TRUE(rules.evaluate({.in_flight = 8, .in_flight_max = 10}, noon).empty());
  EXPECT_EQ(rules.evaluate({.in_flight = 9, .in_flight_max = 10}, noon),
            (Changes{raised(AlertKind::pool_busy, "9 of 10 requests are in flight, more than 80 %.",
                            {90, 80, AlertUnit::percent})}));
  EXPECT_EQ(rules.evaluate({.in_flight = 8, .in_flight_max = 10}, noon + 5s),
            (Changes{over(AlertKind::pool_busy)}));
}

TEST(PoolAlert, AnIdleServerIsNotBusy) {
  EXPECT_TRUE(ServerAlertRules{}.evaluate({.in_flight = 0, .in_flight_max = 0}, noon).empty());
}

// ---------------------------------------------------------------- tenants

TEST(TenantDeadLetters, AreCountedPerTenant) {
  ServerAlertRules rules;
  const ServerFacts facts{.dead_letters = {{"", 1001}, {"acme", 1000}, {"other", 5000}}};
  const Changes changes = rules.evaluate(facts, noon);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].subject, of_tenant(""));
  EXPECT_EQ(changes[1].subject, of_tenant("other"));
  EXPECT_EQ(changes[1].detail, "There are 5000 dead letters, more than 1000.");
  EXPECT_EQ(changes[1].measure, (AlertMeasure{5000, 1000}));
  EXPECT_TRUE(rules.evaluate(facts, noon).empty());
  const Changes ended = rules.evaluate({.dead_letters = {{"", 1001}, {"other", 1000}}}, noon);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].subject, of_tenant("other"));
  EXPECT_FALSE(ended[0].active);
}

TEST(TenantDeadLetters, FromBeforeTheStartAreKeptUntilTheyAreCounted) {
  ServerAlertRules rules;
  rules.restore(of_tenant("acme"));
  EXPECT_TRUE(rules.evaluate({.dead_letters_known = false}, noon).empty());
  EXPECT_TRUE(rules.evaluate({.dead_letters = {{"acme", 1001}}}, noon).empty());
  EXPECT_EQ(rules.evaluate({}, noon).size(), 1u);
}

// ---------------------------------------------------------------- reload and restart

TEST(ServerAlerts, ChangedLimitsApplyFromTheNextEvaluation) {
  ServerAlertRules rules;
  const ServerFacts facts{.attempts = 10,
                          .successes = 10,
                          .waiting = 1,
                          .in_flight = 1,
                          .in_flight_max = 100,
                          .dead_letters = {{"acme", 1}}};
  EXPECT_TRUE(rules.evaluate(facts, noon).empty());
  AlertLimits limits;
  limits.tenant_dead_letters_max = 0;
  limits.queue_max = 0;
  limits.pool_max = 0;
  rules.change(limits);
  EXPECT_EQ(rules.evaluate(facts, noon).size(), 3u);
  rules.change({});
  EXPECT_EQ(rules.evaluate(facts, noon + 5s).size(), 3u);
}

TEST(ServerAlerts, AnAlertRestoredAfterARestartResolvesWhenItsCauseIsGone) {
  ServerAlertRules rules;
  for (const AlertKind kind :
       {AlertKind::success_low, AlertKind::queue_deep, AlertKind::pool_busy}) {
    rules.restore({kind, std::nullopt});
  }
  rules.restore(of_tenant("acme"));
  rules.restore(of_tenant("other"));
  rules.restore({AlertKind::store_failing, std::nullopt});
  const Changes changes =
      rules.evaluate({.waiting = 20'000, .dead_letters = {{"acme", 2000}}}, noon);
  EXPECT_EQ(changes, (Changes{{.subject = of_tenant("other"), .active = false, .detail = {}},
                              over(AlertKind::pool_busy)}));
  EXPECT_EQ(rules.evaluate({.waiting = 20'000, .dead_letters = {{"acme", 2000}}}, noon + 5min),
            Changes{over(AlertKind::success_low)});
}

}  // namespace
}  // namespace postrider
