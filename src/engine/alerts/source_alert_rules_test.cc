#include "engine/alerts/source_alert_rules.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime start = wall_from_unix_ms(1'800'000'000'000);

SourceFacts working() { return {.name = "shop", .is_working = true}; }
SourceFacts failing() {
  return {.name = "shop", .is_failing = true, .failed_connects = 3, .reason = "Away."};
}
SourceFacts rejecting(std::uint64_t count) {
  SourceFacts facts = working();
  facts.rejected = count;
  facts.last_rejection = "No data.";
  return facts;
}

AlertSubject subject(AlertKind kind) { return {kind, std::nullopt, std::nullopt, "shop"}; }

TEST(SourceAlertRules, AFailingSourceIsAnAlertUntilItWorks) {
  SourceAlertRules rules;
  EXPECT_TRUE(rules.evaluate({{.name = "shop"}}, start).empty());
  const auto raised = rules.evaluate({failing()}, start + 1s);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0],
            (AlertChange{.subject = subject(AlertKind::source_failing),
                         .active = true,
                         .detail = "The source shop could not be connected 3 times in a row: "
                                   "Away.",
                         .measure = AlertMeasure{.count = 3, .limit = 3}}));
  EXPECT_TRUE(rules.evaluate({failing()}, start + 2s).empty());
  EXPECT_TRUE(rules.evaluate({{.name = "shop"}}, start + 3s).empty()) << "paused, for example";
  const auto over = rules.evaluate({working()}, start + 4s);
  ASSERT_EQ(over.size(), 1u);
  EXPECT_EQ(over[0].subject, subject(AlertKind::source_failing));
  EXPECT_FALSE(over[0].active);
}

TEST(SourceAlertRules, OneAlertCountsTheRejectedMessagesOfAnHour) {
  SourceAlertRules rules;
  EXPECT_TRUE(rules.evaluate({rejecting(0)}, start).empty());
  auto changes = rules.evaluate({rejecting(1)}, start);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].detail,
            "1 message of the source shop was rejected since 2027-01-15T08:00:00.000Z. The last: "
            "No data.");
  EXPECT_EQ(changes[0].measure, (AlertMeasure{.count = 1, .limit = 0}));
  EXPECT_TRUE(rules.evaluate({rejecting(1)}, start + 1min).empty());
  changes = rules.evaluate({rejecting(4)}, start + 59min);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].detail.starts_with("4 messages of the source shop were rejected since"));
  changes = rules.evaluate({rejecting(4)}, start + 60min);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].subject, subject(AlertKind::messages_rejected));
  EXPECT_FALSE(changes[0].active);
  changes = rules.evaluate({rejecting(5)}, start + 61min);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].measure, (AlertMeasure{.count = 1, .limit = 0}));
}

TEST(SourceAlertRules, ARejectionAfterTheHourStartsANewAlert) {
  SourceAlertRules rules;
  (void)rules.evaluate({rejecting(3)}, start);
  const auto changes = rules.evaluate({rejecting(4)}, start + 2h);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_FALSE(changes[0].active);
  EXPECT_TRUE(changes[1].active);
  EXPECT_EQ(changes[1].measure, (AlertMeasure{.count = 1, .limit = 0}));
}

TEST(SourceAlertRules, AlertsFromBeforeTheStartContinue) {
  Alert failure;
  failure.subject = subject(AlertKind::source_failing);
  Alert rejections;
  rejections.subject = subject(AlertKind::messages_rejected);
  rejections.raised_at = start - 30min;
  rejections.measure = AlertMeasure{.count = 7, .limit = 0};
  Alert other;
  other.subject = {AlertKind::queue_deep, std::nullopt};
  SourceAlertRules rules;
  for (const Alert& alert : {failure, rejections, other}) {
    rules.restore(alert);
  }
  EXPECT_TRUE(rules.evaluate({{.name = "shop"}}, start).empty());
  SourceFacts facts = failing();
  facts.rejected = 1;
  const auto counted = rules.evaluate({facts}, start + 1s);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].measure, (AlertMeasure{.count = 8, .limit = 0}));
  facts.is_failing = false;
  facts.is_working = true;
  EXPECT_EQ(rules.evaluate({facts}, start + 30min).size(), 2u);
}

TEST(SourceAlertRules, AlertsOfASourceThatIsNoLongerConfiguredEnd) {
  SourceAlertRules rules;
  SourceFacts facts = failing();
  facts.rejected = 1;
  (void)rules.evaluate({facts}, start);
  const auto over = rules.evaluate({}, start + 1s);
  ASSERT_EQ(over.size(), 2u);
  EXPECT_FALSE(over[0].active);
  EXPECT_FALSE(over[1].active);
  EXPECT_TRUE(rules.evaluate({}, start + 2s).empty());
}

TEST(SourceAlertRules, SourcesHaveAlertsOfTheirOwn) {
  SourceAlertRules rules;
  SourceFacts other = failing();
  other.name = "mq";
  EXPECT_EQ(rules.evaluate({failing(), other}, start).size(), 2u);
  EXPECT_EQ(rules.evaluate({working(), other}, start + 1s).size(), 1u);
}

}  // namespace
}  // namespace postrider
