// What a circuit counts after a restart, what it shows, and its open periods.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/policy/breaker.h"
#include "core/policy/breaker_circuit.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

/// Makes calls and records them as a store does.
struct RecordedCircuit : Circuit {
  using Circuit::Circuit;
  std::vector<PastCall> recorded;

  void call(bool failed, Millis duration = 1ms, bool timed_out = false) {
    ASSERT_TRUE(acquire());
    const WallTime began = now;
    now += duration;
    if (timed_out) {
      time_out();
    } else {
      failed ? fail() : succeed();
    }
    recorded.push_back({.began = began, .ended = now, .failed = failed, .timed_out = timed_out});
  }
  void call_all(std::string_view results) {
    for (const char result : results) {
      call(result == '-');
    }
  }

  /// The breaker after a restart.
  [[nodiscard]] Breaker restarted() const {
    Breaker restored{breaker.record()};
    const CallsToRestore which = calls_to_restore(breaker.record(), policy, now);
    std::vector<PastCall> calls;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const bool at_least = recorded.size() - i <= which.count_min;
      if (recorded[i].ended >= which.since || at_least) {
        calls.push_back(recorded[i]);
      }
    }
    if (calls.size() > which.limit) {
      calls.erase(calls.begin(), calls.end() - which.limit);
    }
    restored.restore(policy, calls, now);
    return restored;
  }
  void restart() { breaker = restarted(); }
};

TEST(BreakerRestore, FailuresBeforeARestartCount) {
  RecordedCircuit circuit{BreakerPreset::sensitive};
  circuit.call_all("----");
  circuit.restart();
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.now += 59s;
  circuit.call_all("-");
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

TEST(BreakerRestore, CallsThatLeftTheWindowDoNotCount) {
  RecordedCircuit circuit{BreakerPreset::sensitive};
  circuit.call_all("----");
  circuit.now += 60s;
  circuit.restart();
  circuit.call_all("----");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
}

TEST(BreakerRestore, SuccessesBeforeARestartCount) {
  RecordedCircuit circuit{BreakerPreset::standard};
  circuit.call_all("+++++++++++++++");
  circuit.restart();
  circuit.call_all("--------------");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.call_all("-");
  EXPECT_EQ(circuit.state(), CircuitState::open) << "15 of 30";
}

TEST(BreakerRestore, CallsBeforeAResetDoNotCount) {
  RecordedCircuit circuit{BreakerPreset::sensitive};
  circuit.call_all("----");
  circuit.now += 1ms;
  circuit.breaker.reset(circuit.now);
  circuit.restart();
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).calls, 0u);
  circuit.call_all("----");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.now += 1ms;
  circuit.breaker.restart_window(circuit.now);
  circuit.restart();
  circuit.call_all("----");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
}

TEST(BreakerRestore, AttemptsThatBeganBeforeTheLastChangeDoNotCount) {
  RecordedCircuit circuit{BreakerPreset::sensitive};
  const std::vector<PastCall> calls(5, {.began = noon - 1s, .ended = noon + 1s, .failed = true});
  circuit.now = noon;
  circuit.breaker.reset(noon);
  circuit.now = noon + 2s;
  circuit.breaker.restore(circuit.policy, calls, circuit.now);
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).calls, 0u);
}

TEST(BreakerRestore, UsedProbesStayUsed) {
  RecordedCircuit circuit{BreakerPreset::patient};
  circuit.call_all("----------");
  circuit.now += 1h;
  circuit.call_all("++");
  ASSERT_EQ(circuit.state(), CircuitState::half_open);
  circuit.restart();
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).probes_used, 2u);
  EXPECT_TRUE(circuit.acquire());
  EXPECT_FALSE(circuit.acquire()) << "three probes in total";
  circuit.succeed();
  EXPECT_EQ(circuit.state(), CircuitState::closed);
}

TEST(BreakerRestore, TimeoutsInARowCountHoweverLongAgoTheyWere) {
  RecordedCircuit circuit{BreakerPreset::standard};
  for (int i = 0; i < 4; ++i) {
    circuit.call(true, 30s, true);
    circuit.now += 1h;
  }
  circuit.restart();
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).timeouts_in_row, 4u);
  circuit.call(true, 30s, true);
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

TEST(BreakerRestore, ReadsAtLeastAsManyCallsAsTimeoutsInARowOpenTheCircuit) {
  BreakerPolicy policy = breaker_policy(BreakerPreset::patient);
  policy.consecutive_failure_threshold = 20;
  EXPECT_EQ(calls_to_restore({}, policy, noon).count_min, 20u);
  EXPECT_EQ(calls_to_restore({}, policy, noon).limit, 20u);
}

TEST(BreakerRestore, ReadsOneCallForADisabledPolicyAndNoMoreThanTheWindow) {
  BreakerPolicy policy = breaker_policy(BreakerPreset::standard);
  EXPECT_EQ(calls_to_restore({}, policy, noon).since, noon - 60s);
  EXPECT_EQ(calls_to_restore({}, policy, noon).limit, breaker_calls_max);
  policy.window = BreakerWindow::count;
  EXPECT_EQ(calls_to_restore({}, policy, noon).since, WallTime{});
  EXPECT_EQ(calls_to_restore({}, policy, noon).limit, 10u);
  EXPECT_EQ(calls_to_restore({.counting_since = noon - 1s}, policy, noon).since, noon - 1s);
  policy.enabled = false;
  EXPECT_EQ(calls_to_restore({}, policy, noon).limit, 1u);
}

TEST(BreakerRestore, CallsInTheFutureCountFromNow) {
  Circuit circuit{BreakerPreset::sensitive};
  circuit.breaker.restore(circuit.policy,
                          {{.began = noon + 1h, .ended = noon + 1h, .failed = true}}, noon);
  EXPECT_EQ(circuit.breaker.window(circuit.policy, noon).failures, 1u);
  EXPECT_EQ(circuit.breaker.window(circuit.policy, noon + 60s).failures, 0u);
}

RC_GTEST_PROP(BreakerRestore, IsTheSameAsWithoutARestart, ()) {
  BreakerPolicy policy = breaker_policy(static_cast<BreakerPreset>(*rc::gen::inRange(0, 3)));
  policy.window = static_cast<BreakerWindow>(*rc::gen::inRange(0, 2));
  RecordedCircuit circuit{policy};
  const int steps = *rc::gen::inRange(0, 60);
  for (int step = 0; step < steps; ++step) {
    circuit.now += Millis{*rc::gen::inRange<std::int64_t>(1, 20'000)};
    if (circuit.breaker.retry_at(policy, circuit.now) > circuit.now) {
      circuit.now = *circuit.breaker.retry_at(policy, circuit.now);
    }
    circuit.call(*rc::gen::arbitrary<bool>());
  }
  const CallWindow want = circuit.breaker.window(policy, circuit.now);
  const CallWindow got = circuit.restarted().window(policy, circuit.now);
  RC_ASSERT(got.calls == want.calls);
  RC_ASSERT(got.failures == want.failures);
  RC_ASSERT(got.probes_used == want.probes_used);
}

TEST(CallWindow, ShowsWhatTheCircuitCounts) {
  RecordedCircuit circuit{BreakerPreset::sensitive};
  EXPECT_EQ(circuit.breaker.window(circuit.policy, noon),
            (CallWindow{.calls = 0, .failures = 0, .start = noon - 60s, .probes_used = 0}));
  circuit.call_all("--+");
  circuit.now += 30s;
  circuit.call_all("--");
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now),
            (CallWindow{.calls = 5, .failures = 4, .start = circuit.now - 60s, .probes_used = 0}));
  EXPECT_EQ(circuit.breaker.window(circuit.policy, noon + 60s + 3ms).calls, 2u)
      << "three have left it";
  circuit.call_all("-");
  ASSERT_EQ(circuit.state(), CircuitState::open);
  circuit.now += 1min;
  const CallWindow opened = circuit.breaker.window(circuit.policy, circuit.now);
  EXPECT_EQ(opened.calls, 6u) << "those that opened it";
  EXPECT_EQ(opened.failures, 5u);
  EXPECT_EQ(circuit.restarted().window(circuit.policy, circuit.now), opened);
  circuit.now += 5min;
  ASSERT_TRUE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).probes_used, 1u);
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).calls, 0u);
}

TEST(OpenPeriod, BeginsAndEndsWithTheOpenState) {
  Circuit circuit{BreakerPreset::sensitive};
  const CircuitRecord closed = circuit.breaker.record();
  EXPECT_EQ(changed_period(closed, closed), std::nullopt);
  circuit.calls("-----");
  const CircuitRecord open = circuit.breaker.record();
  EXPECT_EQ(open.opened_at, noon);
  EXPECT_EQ(open.times_opened, 1u);
  EXPECT_EQ(changed_period(closed, open), (OpenPeriod{.opened_at = noon}));
  EXPECT_EQ(changed_period(open, open), std::nullopt);
  circuit.now += 5min;
  ASSERT_TRUE(circuit.acquire());
  const CircuitRecord probing = circuit.breaker.record();
  EXPECT_EQ(changed_period(open, probing),
            (OpenPeriod{.opened_at = noon, .ended_at = noon + 5min}));
  circuit.now += 1s;
  circuit.fail();
  const CircuitRecord reopened = circuit.breaker.record();
  EXPECT_EQ(changed_period(probing, reopened), (OpenPeriod{.opened_at = noon + 5min + 1s}));
  EXPECT_EQ(reopened.times_opened, 2u);
  circuit.now += 1s;
  circuit.breaker.force_open(circuit.now, std::nullopt);
  const CircuitRecord forced = circuit.breaker.record();
  EXPECT_EQ(changed_period(reopened, forced),
            (OpenPeriod{.opened_at = noon + 5min + 1s, .reason = OpenReason::forced}))
      << "the same period";
  circuit.breaker.reset(circuit.now);
  EXPECT_EQ(
      changed_period(forced, circuit.breaker.record()),
      (OpenPeriod{
          .opened_at = noon + 5min + 1s, .ended_at = circuit.now, .reason = OpenReason::forced}));
}

}  // namespace
}  // namespace postrider
