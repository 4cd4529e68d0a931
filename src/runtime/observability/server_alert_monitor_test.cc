#include "runtime/observability/server_alert_monitor.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/manual_loop.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

class ListSink final : public AlertSink {
 public:
  void on_alert_change(const AlertChange& change) override { changes.push_back(change); }

  std::vector<AlertChange> changes;
};

class ServerAlertMonitorTest : public testing::Test {
 protected:
  void advance(Micros by) {
    const MonoTime end = clock_.now().mono + by;
    run_posted();
    while (loop_.next_due() && *loop_.next_due() <= end) {
      clock_.advance(*loop_.next_due() - clock_.now().mono);
      loop_.fire_due();
    }
    clock_.advance(end - clock_.now().mono);
  }
  void run_posted() {
    bool done = false;
    loop_.post([&done] { done = true; });
    ASSERT_TRUE(loop_.run_until([&done] { return done; }));
  }

  test::ManualClock clock_;
  test::ManualLoop loop_{clock_};
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  ListSink sink_;
  int webhook_checks_ = 0;
  std::vector<SourceFacts> sources_;
  AlertLimits limits_{.tenant_dead_letters_max = 5, .queue_max = 10};
  ServerAlertMonitor monitor_{limits_,
                              {.clock = &clock_,
                               .metrics = metrics_.get(),
                               .alerts = &sink_,
                               .sources = [this] { return sources_; },
                               .check_webhooks = [this] { ++webhook_checks_; }}};
};

TEST_F(ServerAlertMonitorTest, ChecksTheSourcesOfEvents) {
  Alert before;
  before.subject = {AlertKind::source_failing, std::nullopt, std::nullopt, "gone"};
  monitor_.restore(before);
  sources_ = {{.name = "shop", .is_failing = true, .failed_connects = 3, .reason = "Away."}};
  monitor_.start(loop_);
  advance(1ms);
  ASSERT_EQ(sink_.changes.size(), 2u);
  EXPECT_EQ(sink_.changes[0].subject.source, "shop");
  EXPECT_TRUE(sink_.changes[0].active);
  EXPECT_EQ(sink_.changes[1].subject, before.subject);
  EXPECT_FALSE(sink_.changes[1].active);
}

TEST_F(ServerAlertMonitorTest, ChecksAtOnceAndThenEverySecond) {
  monitor_.start(loop_);
  EXPECT_EQ(webhook_checks_, 0) << "on the loop, not here";
  advance(999ms);
  EXPECT_EQ(webhook_checks_, 1);
  advance(1ms);
  EXPECT_EQ(webhook_checks_, 2);
  advance(10s);
  EXPECT_EQ(webhook_checks_, 12);
}

TEST_F(ServerAlertMonitorTest, RaisesAndResolvesAnAlertAboutTheServer) {
  monitor_.start(loop_);
  metrics_->waiting_counted({{{"acme", {{0, 10, 0}}}}});
  advance(1s);
  EXPECT_TRUE(sink_.changes.empty());
  metrics_->waiting_changed({{{"acme", {{0, 1, 0}}}}});
  advance(1s);
  ASSERT_EQ(sink_.changes.size(), 1u);
  EXPECT_EQ(sink_.changes.front().subject, (AlertSubject{AlertKind::queue_deep, std::nullopt}));
  EXPECT_TRUE(sink_.changes.front().active);
  metrics_->waiting_changed({{{"acme", {{0, -1, 0}}}}});
  advance(level_calm + 1s);
  ASSERT_EQ(sink_.changes.size(), 2u);
  EXPECT_FALSE(sink_.changes.back().active);
}

TEST_F(ServerAlertMonitorTest, RaisesAnAlertAboutATenantWithTooManyDeadLetters) {
  monitor_.start(loop_);
  metrics_->dead_letters_counted({{"acme", 5}, {"other", 5}});
  metrics_->dead_letters_changed("acme", 1);
  advance(1s);
  ASSERT_EQ(sink_.changes.size(), 1u);
  EXPECT_EQ(sink_.changes.front().subject.tenant_id, "acme");
}

TEST_F(ServerAlertMonitorTest, UsesChangedLimits) {
  monitor_.start(loop_);
  metrics_->waiting_counted({{{"acme", {{0, 5, 0}}}}});
  metrics_->dead_letters_counted({{"acme", 3}});
  advance(1s);
  EXPECT_TRUE(sink_.changes.empty());
  limits_.queue_max = 4;
  limits_.tenant_dead_letters_max = 2;
  monitor_.change(limits_);
  advance(1s);
  EXPECT_EQ(sink_.changes.size(), 2u);
}

TEST_F(ServerAlertMonitorTest, WatchesTheDurationOfAttempts) {
  monitor_.start(loop_);
  const std::unique_ptr<AttemptMeter> meter = metrics_->make_attempt_meter();
  for (int i = 0; i < 10; ++i) {
    meter->record({.event_type = "a", .tenant_id = "t", .duration = 30s});
  }
  advance(1s);
  EXPECT_TRUE(sink_.changes.empty());
  meter->record({.event_type = "a", .tenant_id = "t", .duration = 30s + 1us});
  advance(1s);
  ASSERT_EQ(sink_.changes.size(), 1u);
  EXPECT_EQ(sink_.changes.front().subject, (AlertSubject{AlertKind::p99_high, std::nullopt}));
  limits_.p99_max = 40s;
  monitor_.change(limits_);
  advance(1s);
  EXPECT_FALSE(sink_.changes.back().active);
}

TEST_F(ServerAlertMonitorTest, CountsDeadLettersBeforeAndAfterTheStart) {
  DeliveryTally before;
  before.succeeded = 1'000'000;
  before.dead_letters = 99;
  monitor_.recall({{clock_.now().steady - 10min, before}});
  monitor_.start(loop_);
  const std::unique_ptr<AttemptMeter> meter = metrics_->make_attempt_meter();
  meter->record({.state = DeliveryState::dead_letter,
                 .failure = FailureCategory::timeout,
                 .event_type = "a",
                 .tenant_id = "t"});
  advance(1s);
  EXPECT_TRUE(sink_.changes.empty());
  metrics_->delivery_given_up(1);
  advance(1s);
  ASSERT_EQ(sink_.changes.size(), 1u);
  EXPECT_EQ(sink_.changes.front().subject,
            (AlertSubject{AlertKind::total_dead_letters, std::nullopt}));
}

TEST_F(ServerAlertMonitorTest, ResolvesAnAlertThatWasActiveBeforeARestart) {
  Alert alert;
  alert.subject = {AlertKind::queue_deep, std::nullopt};
  monitor_.restore(alert);
  monitor_.start(loop_);
  metrics_->waiting_counted({});
  advance(level_calm + 1s);
  ASSERT_EQ(sink_.changes.size(), 1u);
  EXPECT_FALSE(sink_.changes.front().active);
}

}  // namespace
}  // namespace postrider
