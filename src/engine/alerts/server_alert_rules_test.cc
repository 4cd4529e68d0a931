#include "engine/alerts/server_alert_rules.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
using Changes = std::vector<AlertChange>;

AlertChange raised(AlertKind kind, std::string detail) {
  return {.subject = {kind, std::nullopt}, .active = true, .detail = std::move(detail)};
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
                            "Fewer than 90 % of the attempts of the last 300 s succeeded.")}));
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

// ---------------------------------------------------------------- levels

TEST(QueueAlert, IsRaisedAboveTheLimit) {
  ServerAlertRules rules;
  EXPECT_TRUE(rules.evaluate({.waiting = 10'000}, noon).empty());
  EXPECT_EQ(
      rules.evaluate({.waiting = 10'001}, noon),
      (Changes{raised(AlertKind::queue_deep, "10001 deliveries are waiting, more than 10000.")}));
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

TEST(PoolAlert, IsRaisedAboveEightyPercent) {
  ServerAlertRules rules;
  EXPECT_TRUE(rules.evaluate({.in_flight = 8, .in_flight_max = 10}, noon).empty());
  EXPECT_EQ(
      rules.evaluate({.in_flight = 9, .in_flight_max = 10}, noon),
      (Changes{raised(AlertKind::pool_busy, "9 of 10 requests are in flight, more than 80 %.")}));
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
  EXPECT_TRUE(rules.evaluate(facts, noon).empty());
  const Changes ended = rules.evaluate({.dead_letters = {{"", 1001}, {"other", 1000}}}, noon);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].subject, of_tenant("other"));
  EXPECT_FALSE(ended[0].active);
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
                              over(AlertKind::success_low),
                              over(AlertKind::pool_busy)}));
}

}  // namespace
}  // namespace postrider
