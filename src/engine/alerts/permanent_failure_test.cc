#include <gtest/gtest.h>

#include "engine/alerts/alert_rules.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const WebhookId webhook{{1}};
const WebhookId other{{2}};
using Changes = std::vector<AlertChange>;

class PermanentFailure : public testing::Test {
 protected:
  Changes dead_letter(WallTime at, WebhookId id = webhook) {
    return rules_.on_attempt({.webhook_id = id,
                              .failed = true,
                              .dead = true,
                              .delivery_id = DeliveryId{{9}},
                              .dead_reason = "max_attempts_exceeded",
                              .attempts = 5,
                              .last_error = "HTTP 503"},
                             at);
  }
  static AlertChange over(WebhookId id = webhook) {
    return {.subject = {AlertKind::permanent_failure, id}, .active = false, .detail = {}};
  }

  AlertRules rules_;
};

TEST_F(PermanentFailure, TheFirstDeadLetterRaisesAnAlertAtOnce) {
  const Changes raised = dead_letter(noon);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].subject, (AlertSubject{AlertKind::permanent_failure, webhook}));
  EXPECT_TRUE(raised[0].active);
  EXPECT_EQ(raised[0].detail,
            "1 delivery became dead letter since 2026-01-01T12:00:00.000Z. Webhook delivery " +
                DeliveryId{{9}}.to_string() +
                " failed after 5 attempts: max_attempts_exceeded. The last attempt failed: HTTP "
                "503.");
  EXPECT_EQ(raised[0].measure, (AlertMeasure{.count = 1, .limit = 0}));
}

TEST_F(PermanentFailure, FurtherOnesAreCountedByTheNextEvaluation) {
  EXPECT_EQ(dead_letter(noon).size(), 1u);
  EXPECT_TRUE(dead_letter(noon + 1s).empty());
  EXPECT_TRUE(dead_letter(noon + 1s).empty());
  const Changes counted = rules_.evaluate(noon + 2s);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_TRUE(counted[0].active);
  EXPECT_EQ(counted[0].measure, (AlertMeasure{.count = 3, .limit = 0}));
  EXPECT_TRUE(counted[0].detail.starts_with("3 deliveries became dead letters since"));
  EXPECT_TRUE(rules_.evaluate(noon + 3s).empty());
}

TEST_F(PermanentFailure, AnHourAfterTheFirstTheAlertEnds) {
  EXPECT_EQ(dead_letter(noon).size(), 1u);
  EXPECT_TRUE(dead_letter(noon + 59min).empty());
  EXPECT_EQ(rules_.evaluate(noon + 1h - 1ms).size(), 1u);
  EXPECT_EQ(rules_.evaluate(noon + 1h), Changes{over()});
  EXPECT_TRUE(rules_.evaluate(noon + 1h).empty());
  const Changes next = dead_letter(noon + 1h);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].measure->count, 1);
}

TEST_F(PermanentFailure, ADeadLetterAfterTheHourBelongsToTheNextAlert) {
  EXPECT_EQ(dead_letter(noon).size(), 1u);
  EXPECT_TRUE(dead_letter(noon + 59min).empty());
  const Changes changes = dead_letter(noon + 1h);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].measure->count, 2);
  EXPECT_EQ(changes[1], over());
  EXPECT_EQ(changes[2].measure->count, 1);
}

TEST_F(PermanentFailure, WebhooksHaveTheirOwnAlerts) {
  EXPECT_EQ(dead_letter(noon).size(), 1u);
  EXPECT_EQ(dead_letter(noon + 1min, other).size(), 1u);
  EXPECT_EQ(rules_.evaluate(noon + 1h), Changes{over()});
  EXPECT_EQ(rules_.evaluate(noon + 61min), Changes{over(other)});
}

TEST_F(PermanentFailure, ARestartKeepsTheCountAndTheHour) {
  Alert before;
  before.subject = {AlertKind::permanent_failure, webhook};
  before.raised_at = noon;
  before.measure = AlertMeasure{.count = 7, .limit = 0};
  rules_.restore(before);
  EXPECT_TRUE(rules_.evaluate(noon + 10min).empty());
  EXPECT_TRUE(dead_letter(noon + 10min).empty());
  const Changes counted = rules_.evaluate(noon + 11min);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].measure->count, 8);
  EXPECT_EQ(rules_.evaluate(noon + 1h), Changes{over()});
}

TEST_F(PermanentFailure, AnAlertFromTheFutureEndsAnHourAfterTheStart) {
  Alert before;
  before.subject = {AlertKind::permanent_failure, webhook};
  before.raised_at = noon + 24h;  // The clock was set back.
  rules_.restore(before);
  EXPECT_TRUE(rules_.evaluate(noon).empty());
  EXPECT_EQ(rules_.evaluate(noon + 1h), Changes{over()});
}

TEST_F(PermanentFailure, CanBeSwitchedOff) {
  EXPECT_EQ(dead_letter(noon).size(), 1u);
  AlertLimits limits;
  limits.permanent_failures = false;
  rules_.change(limits);
  EXPECT_EQ(rules_.evaluate(noon + 1s), Changes{over()});
  EXPECT_TRUE(dead_letter(noon + 2s).empty());
}

}  // namespace
}  // namespace postrider
