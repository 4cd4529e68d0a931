// Circuits: an open one sends nothing (P7); a few probes decide when it closes.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

class ShardCircuit : public testing::Test {
 protected:
  static void sensitive(Webhook& webhook) {
    webhook.breaker = BreakerPolicy{.minimum_throughput = 2,
                                    .failure_count_threshold = 2,
                                    .sleep_window = 10s,
                                    .half_open_max_calls = 2,
                                    .half_open_success_percentage = 100};
    webhook.retry.delay_base = 5s;
  }
  /// Opens the circuit by two failures in a row.
  void open() {
    driver_.admit_many(webhook_, 2);
    for (const StartAttempt& each : driver_.take<StartAttempt>()) {
      driver_.finish(each, answered(503));
    }
    for (const Settle& each : driver_.take<Settle>()) {
      stored_.push_back(each.settlement.delivery);
      driver_.settled(each.settlement);
    }
  }

  ShardDriver driver_;
  WebhookId webhook_ = driver_.add_webhook(sensitive);
  std::vector<Delivery> stored_;
};

TEST_F(ShardCircuit, OpeningIsSavedAndRaisesAnAlert) {
  open();
  const std::vector<SaveCircuit> saved = driver_.take<SaveCircuit>();
  ASSERT_EQ(saved.size(), 2u);  // The first failure is saved too.
  EXPECT_EQ(saved[0].record.state, CircuitState::closed);
  EXPECT_EQ(saved[0].record.failing_since, driver_.wall());
  EXPECT_EQ(saved[1].record.state, CircuitState::open);
  EXPECT_EQ(saved[1].record.open_until, driver_.wall() + 10s);
  const std::vector<RaiseAlert> alerts = driver_.take<RaiseAlert>();
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0].kind, AlertKind::circuit_opened);
  EXPECT_EQ(alerts[0].measure, (AlertMeasure{2, 2}));
  EXPECT_TRUE(alerts[0].detail.starts_with(
      "2 attempts failed; the circuit opens at 2. The next attempt is made after "));
  EXPECT_TRUE(alerts[0].detail.ends_with(" The last attempt failed: HTTP 503."))
      << alerts[0].detail;
  EXPECT_EQ(driver_.totals().circuits, (std::array<std::uint32_t, 3>{0, 1, 0}));
}

TEST_F(ShardCircuit, TheAlertNamesThePercentageThatOpenedTheCircuit) {
  driver_.change_webhook(webhook_, [](Webhook& each) {
    each.breaker.failure_count_threshold = 0;
    each.breaker.error_threshold_percentage = 75;
  });
  open();
  const std::vector<RaiseAlert> alerts = driver_.take<RaiseAlert>();
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0].measure, (AlertMeasure{100, 75, AlertUnit::percent}));
  EXPECT_TRUE(
      alerts[0].detail.starts_with("2 of 2 attempts (100 %) failed; the circuit opens at 75 %."));
}

TEST_F(ShardCircuit, WhileOpenNothingIsSentOrLoadedAndMemoryIsFreed) {
  open();
  driver_.admit(webhook_);
  driver_.ring_after(10s - 1ms);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  EXPECT_TRUE(driver_.take<LoadLane>().empty());
  EXPECT_EQ(driver_.view(webhook_).window_count, 0u);
  EXPECT_EQ(driver_.view(webhook_).blocked, BlockReason::circuit);
  EXPECT_EQ(driver_.view(webhook_).blocked_until, driver_.wall() + 1ms);
}

TEST_F(ShardCircuit, AfterTheOpenTimeAFewProbesAreSent) {
  open();
  stored_.push_back(driver_.admit(webhook_));
  const MonoTime opened = driver_.now().mono;
  driver_.ring_after(3s);  // After the alarm that was set to see whether the receiver is slow.
  EXPECT_EQ(driver_.alarm(), opened + 10s);
  driver_.ring_after(7s);
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
  driver_.load(webhook_, stored_);
  const std::vector<StartAttempt> probes = driver_.take<StartAttempt>();
  EXPECT_EQ(probes.size(), 2u);
  EXPECT_EQ(driver_.totals().circuits, (std::array<std::uint32_t, 3>{0, 0, 1}));
  EXPECT_EQ(driver_.view(webhook_).blocked, BlockReason::circuit);
  EXPECT_EQ(driver_.view(webhook_).blocked_until, std::nullopt);

  (void)driver_.take<RaiseAlert>();
  driver_.finish(probes[0], answered(200));
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  driver_.finish(probes[1], answered(200));
  EXPECT_EQ(driver_.take<StartAttempt>().size(), 1u);
  EXPECT_EQ(driver_.take<RaiseAlert>().at(0).kind, AlertKind::circuit_recovered);
  EXPECT_EQ(driver_.totals().circuits, (std::array<std::uint32_t, 3>{1, 0, 0}));
}

TEST_F(ShardCircuit, BecomesHalfOpenEvenIfNothingWaits) {
  open();
  for (const Delivery& each : stored_) {
    driver_.feed(DeliveryCancelled{webhook_, each.id});
  }
  (void)driver_.take<SaveCircuit>();
  driver_.ring_after(10s - 1ms);
  EXPECT_EQ(driver_.view(webhook_).circuit.state, CircuitState::open);
  driver_.ring_after(1ms);
  EXPECT_EQ(driver_.view(webhook_).circuit.state, CircuitState::half_open);
  const std::vector<SaveCircuit> saved = driver_.take<SaveCircuit>();
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].record.state, CircuitState::half_open);
}

TEST_F(ShardCircuit, AForcedStateEndsEvenIfNothingWaits) {
  driver_.feed(CircuitCommanded{webhook_, CircuitAction::force_close, 1s});
  driver_.ring_after(1s);
  EXPECT_EQ(driver_.view(webhook_).circuit.forced_until, std::nullopt);
  driver_.feed(CircuitCommanded{webhook_, CircuitAction::force_open, 1s});
  driver_.ring_after(1s);
  EXPECT_EQ(driver_.view(webhook_).circuit.forced_until, std::nullopt);
  EXPECT_EQ(driver_.view(webhook_).circuit.state, CircuitState::half_open);
}

TEST_F(ShardCircuit, AFailedProbeReopensForLongerWithoutASecondAlert) {
  open();
  EXPECT_EQ(driver_.take<RaiseAlert>().size(), 1u);
  driver_.ring_after(10s);
  driver_.load(webhook_, stored_);
  driver_.finish(driver_.take<StartAttempt>().at(0), answered(503));
  EXPECT_EQ(driver_.take<SaveCircuit>().back().record.open_until, driver_.wall() + 20s);
  EXPECT_TRUE(driver_.take<RaiseAlert>().empty());
}

TEST_F(ShardCircuit, AnAbandonedProbeFreesItsSlot) {
  open();
  driver_.ring_after(10s);
  stored_.push_back(driver_.make(webhook_));
  driver_.load(webhook_, stored_);
  const std::vector<StartAttempt> probes = driver_.take<StartAttempt>();
  ASSERT_EQ(probes.size(), 2u);
  driver_.feed(AttemptAbandoned{webhook_, probes[0].delivery.id});
  EXPECT_EQ(driver_.take_started(), std::vector{stored_[2].id});
}

TEST_F(ShardCircuit, ClosingDoesNotExceedTheLimits) {
  driver_.change_webhook(webhook_, [](Webhook& each) { each.max_in_flight = 3; });
  open();
  for (int i = 0; i < 20; ++i) {
    stored_.push_back(driver_.admit(webhook_));
  }
  driver_.ring_after(10s);
  driver_.load(webhook_, stored_);
  for (const StartAttempt& probe : driver_.take<StartAttempt>()) {
    driver_.finish(probe, answered(200));
  }
  EXPECT_EQ(driver_.take<StartAttempt>().size(), 3u);
}

TEST_F(ShardCircuit, AForcedStateIsSavedWithoutAnAlert) {
  driver_.feed(CircuitCommanded{webhook_, CircuitAction::force_open, 1h});
  EXPECT_EQ(driver_.take<SaveCircuit>().at(0).record.forced_open, true);
  driver_.admit(webhook_);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  EXPECT_EQ(driver_.view(webhook_).blocked_until, driver_.wall() + 1h);

  driver_.feed(CircuitCommanded{webhook_, CircuitAction::reset, {}});
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
  driver_.load(webhook_, {driver_.make(webhook_)});
  EXPECT_EQ(driver_.take<StartAttempt>().size(), 1u);
  EXPECT_TRUE(driver_.take<RaiseAlert>().empty());
}

TEST_F(ShardCircuit, ForcedOpenWithoutADurationShowsNoEnd) {
  driver_.feed(CircuitCommanded{webhook_, CircuitAction::force_open, {}});
  driver_.admit(webhook_);
  EXPECT_EQ(driver_.view(webhook_).blocked, BlockReason::circuit);
  EXPECT_EQ(driver_.view(webhook_).blocked_until, std::nullopt);
  EXPECT_EQ(driver_.alarm(), std::nullopt);
  driver_.ring_after(24h);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  driver_.feed(CircuitCommanded{webhook_, CircuitAction::force_close, {}});
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
}

TEST_F(ShardCircuit, RestoresTheCircuitAtStartup) {
  auto webhook = std::make_shared<Webhook>();
  webhook->id = WebhookId{{1}};
  const CircuitRecord record{.state = CircuitState::open,
                             .openings_in_row = 1,
                             .changed_at = driver_.wall(),
                             .open_until = driver_.wall() + 15s};
  driver_.feed(
      WebhookChanged{.webhook = webhook, .circuit = record, .backlog_due = driver_.wall()});
  EXPECT_TRUE(driver_.take<LoadLane>().empty());
  EXPECT_TRUE(driver_.take<SaveCircuit>().empty());
  driver_.ring_after(15s);
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
}

TEST_F(ShardCircuit, AnOpenTimeFromAWrongClockIsLimitedByThePolicy) {
  auto webhook = std::make_shared<Webhook>();
  webhook->id = WebhookId{{1}};
  const CircuitRecord record{.state = CircuitState::open,
                             .openings_in_row = 1,
                             .changed_at = driver_.wall(),
                             .open_until = driver_.wall() + 24h * 365};
  driver_.feed(
      WebhookChanged{.webhook = webhook, .circuit = record, .backlog_due = driver_.wall()});
  EXPECT_EQ(driver_.take<SaveCircuit>().at(0).record.open_until, driver_.wall() + 30min);
  driver_.ring_after(30min);
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
}

TEST_F(ShardCircuit, AFailureAfterTheWebhookWasRemovedRaisesNoAlert) {
  driver_.admit_many(webhook_, 2);
  const std::vector<StartAttempt> started = driver_.take<StartAttempt>();
  driver_.feed(WebhookRemoved{webhook_});
  for (const StartAttempt& each : started) {
    driver_.finish(each, answered(503));
  }
  EXPECT_TRUE(driver_.take<SaveCircuit>().empty());
  EXPECT_TRUE(driver_.take<RaiseAlert>().empty());
}

TEST_F(ShardCircuit, FailuresBeforeARestartCount) {
  ShardDriver restarted;
  Webhook webhook = *driver_.webhook(webhook_);
  restarted.feed(WebhookChanged{
      .webhook = std::make_shared<const Webhook>(webhook),
      .circuit = CircuitRecord{},
      .at_start = true,
      .past_calls = {
          {.began = restarted.wall() - 2s, .ended = restarted.wall() - 1s, .failed = true}}});
  EXPECT_EQ(restarted.view(webhook.id).calls.failures, 1u);
  Delivery delivery = driver_.make(webhook_);
  restarted.feed(Admitted{{delivery}});
  const std::vector<StartAttempt> started = restarted.take<StartAttempt>();
  ASSERT_EQ(started.size(), 1u);
  restarted.finish(started[0], answered(503));
  EXPECT_EQ(restarted.view(webhook.id).circuit.state, CircuitState::open);
}

TEST_F(ShardCircuit, SavesWhenAnOpenPeriodBeginsAndEnds) {
  const WallTime begun = driver_.wall();
  open();
  EXPECT_EQ(driver_.take<SaveCircuit>().back().periods,
            (std::vector<OpenPeriod>{{.opened_at = begun}}));
  driver_.ring_after(10s);
  EXPECT_EQ(driver_.take<SaveCircuit>().back().periods,
            (std::vector<OpenPeriod>{{.opened_at = begun, .ended_at = begun + 10s}}));
  driver_.feed(CircuitCommanded{.webhook_id = webhook_, .action = CircuitAction::force_open});
  EXPECT_EQ(driver_.take<SaveCircuit>().back().periods,
            (std::vector<OpenPeriod>{{.opened_at = begun + 10s, .reason = OpenReason::forced}}));
}

TEST_F(ShardCircuit, FollowsForceOpenUntilOfThePolicy) {
  const auto force = [this](std::optional<WallTime> until) {
    driver_.change_webhook(webhook_,
                           [&](Webhook& webhook) { webhook.breaker.force_open_until = until; });
  };
  const auto circuit = [this] { return driver_.view(webhook_).circuit; };
  const WallTime until = driver_.wall() + 1h;
  force(until);
  EXPECT_EQ(circuit().state, CircuitState::open);
  EXPECT_EQ(circuit().forced_until, until);
  EXPECT_EQ(driver_.take<SaveCircuit>().size(), 1u);
  EXPECT_TRUE(driver_.take<RaiseAlert>().empty()) << "a user did this on purpose";
  driver_.admit(webhook_);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  force(until);
  EXPECT_TRUE(driver_.take<SaveCircuit>().empty()) << "unchanged";

  force(std::nullopt);
  EXPECT_EQ(circuit().state, CircuitState::closed);
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u) << "what waited is in the store";
  force(driver_.wall() - 1s);
  EXPECT_EQ(circuit().state, CircuitState::closed) << "in the past";

  force(until);
  driver_.feed(CircuitCommanded{.webhook_id = webhook_, .action = CircuitAction::force_open});
  force(std::nullopt);
  EXPECT_EQ(circuit().state, CircuitState::open) << "forced by another command meanwhile";
}

TEST_F(ShardCircuit, ForceOpenUntilIsAppliedAtStartupUnlessItWasRestored) {
  const WallTime until = driver_.wall() + 1h;
  for (const bool restored : {false, true}) {
    ShardDriver restarted;
    Webhook webhook = *driver_.webhook(webhook_);
    webhook.breaker.force_open_until = until;
    Breaker forced;
    forced.force_open(restarted.wall() - 1h, until);
    restarted.feed(WebhookChanged{.webhook = std::make_shared<const Webhook>(webhook),
                                  .circuit = restored ? forced.record() : CircuitRecord{},
                                  .at_start = true});
    EXPECT_EQ(restarted.view(webhook.id).circuit.state, CircuitState::open);
    EXPECT_EQ(restarted.take<SaveCircuit>().size(), restored ? 0u : 1u);
  }
}

TEST_F(ShardCircuit, SwitchingTheBreakerOnForgetsEarlierCalls) {
  driver_.change_webhook(webhook_, [](Webhook& webhook) { webhook.breaker.enabled = false; });
  driver_.pass(5s);
  driver_.change_webhook(webhook_, [](Webhook& webhook) { webhook.breaker.enabled = true; });
  EXPECT_EQ(driver_.view(webhook_).circuit.counting_since, driver_.wall());
  EXPECT_EQ(driver_.take<SaveCircuit>().size(), 1u);
}

}  // namespace
}  // namespace postrider
