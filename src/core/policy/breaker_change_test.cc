// The breaker around changes: late results, forced states, a restart, a changed policy.

#include <gtest/gtest.h>

#include "core/policy/breaker.h"
#include "core/policy/breaker_circuit.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(Breaker, ProbingWaitsForEarlierAttempts) {
  Circuit circuit{BreakerPreset::sensitive};
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(circuit.acquire());
  }
  for (int i = 0; i < 5; ++i) {
    circuit.fail();
  }
  ASSERT_EQ(circuit.state(), CircuitState::open);

  circuit.now += 5min;  // Two attempts are still in flight and must not count as probes.
  EXPECT_FALSE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), std::nullopt);
  circuit.succeed();
  EXPECT_EQ(circuit.state(), CircuitState::open);
  EXPECT_FALSE(circuit.acquire());
  circuit.fail();
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), circuit.now);
  EXPECT_TRUE(circuit.acquire());
  EXPECT_EQ(circuit.state(), CircuitState::half_open);
  EXPECT_EQ(circuit.breaker.record().openings_in_row, 1u);
}

TEST(Breaker, ProbesThatEndAfterTheDecisionDoNotCount) {
  Circuit circuit{BreakerPreset::standard};
  circuit.policy.minimum_throughput = 1;
  circuit.breaker = Breaker{{.state = CircuitState::open, .changed_at = noon, .open_until = noon}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(circuit.acquire());
  }
  circuit.succeed();
  circuit.succeed();
  ASSERT_EQ(circuit.state(), CircuitState::closed);
  circuit.fail();
  EXPECT_EQ(circuit.state(), CircuitState::closed) << "the third probe";
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open) << "but the next call does count";
}

TEST(Breaker, ResetIgnoresAttemptsInFlight) {
  Circuit circuit{BreakerPreset::sensitive};
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(circuit.acquire());
  }
  circuit.fail();
  circuit.breaker.reset(noon);
  for (int i = 0; i < 9; ++i) {
    circuit.fail();
  }
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("-----");
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

TEST(Breaker, ResetClosesImmediatelyAndEndsTheSleep) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("----------");
  circuit.now += 1s;
  circuit.breaker.reset(circuit.now);
  EXPECT_EQ(circuit.breaker.record(), (CircuitRecord{.state = CircuitState::closed,
                                                     .changed_at = noon + 1s,
                                                     .failing_since = noon,
                                                     .counting_since = noon + 1s,
                                                     .opened_at = noon,
                                                     .times_opened = 1}));
  EXPECT_TRUE(circuit.acquire());
}

TEST(Breaker, ForcedOpenSendsNothingThenProbes) {
  Circuit circuit{BreakerPreset::standard};
  circuit.breaker.force_open(noon, noon + 1h);
  EXPECT_EQ(circuit.breaker.record(), (CircuitRecord{.state = CircuitState::open,
                                                     .changed_at = noon,
                                                     .open_until = noon + 1h,
                                                     .forced_until = noon + 1h,
                                                     .forced_open = true,
                                                     .opened_at = noon,
                                                     .times_opened = 1}));
  circuit.now = noon + 1h - 1ms;
  EXPECT_FALSE(circuit.acquire()) << "though sleep_max is 30 min";
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), noon + 1h);

  circuit.now = noon + 1h;
  EXPECT_TRUE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.record(), (CircuitRecord{.state = CircuitState::half_open,
                                                     .changed_at = noon + 1h,
                                                     .counting_since = noon + 1h,
                                                     .opened_at = noon,
                                                     .times_opened = 1}));
}

TEST(Breaker, ForcedOpenForeverEndsOnlyWithAReset) {
  Circuit circuit{BreakerPreset::standard};
  circuit.breaker.force_open(noon, std::nullopt);
  circuit.now = noon + 24h * 365 * 1'000;
  EXPECT_FALSE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), wall_time_max);
  circuit.breaker.reset(circuit.now);
  EXPECT_TRUE(circuit.acquire());

  circuit.breaker.force_open(noon, WallTime::max());
  EXPECT_EQ(circuit.breaker.record().forced_until, wall_time_max);
}

TEST(Breaker, ForcedClosedDoesNotOpenUntilItIsOver) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("----------");
  circuit.breaker.force_close(noon, noon + 1h);
  EXPECT_EQ(circuit.breaker.record(), (CircuitRecord{.state = CircuitState::closed,
                                                     .changed_at = noon,
                                                     .forced_until = noon + 1h,
                                                     .failing_since = noon,
                                                     .counting_since = noon,
                                                     .opened_at = noon,
                                                     .times_opened = 1}));
  circuit.now = noon + 1h - 1ms;
  circuit.calls("--------------------");
  EXPECT_EQ(circuit.state(), CircuitState::closed);

  circuit.now = noon + 1h;
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open) << "the failures meanwhile were counted";
  EXPECT_EQ(circuit.breaker.record().forced_until, std::nullopt);
}

TEST(Breaker, ForcingAgainReplacesTheForcedState) {
  Circuit circuit{BreakerPreset::standard};
  circuit.breaker.force_open(noon, std::nullopt);
  circuit.breaker.force_close(noon + 1s, noon + 1h);
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  EXPECT_FALSE(circuit.breaker.record().forced_open);
  circuit.breaker.force_open(noon + 2s, noon + 10s);
  EXPECT_EQ(circuit.state(), CircuitState::open);
  EXPECT_TRUE(circuit.breaker.record().forced_open);
  EXPECT_EQ(circuit.breaker.record().open_until, noon + 10s);
  EXPECT_EQ(circuit.breaker.record().changed_at, noon + 2s);
}

TEST(Breaker, DisabledPolicyAllowsEverything) {
  Circuit circuit{BreakerPreset::sensitive};
  circuit.calls("-----");
  ASSERT_EQ(circuit.state(), CircuitState::open);

  circuit.policy.enabled = false;
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), circuit.now);
  circuit.calls("------------------------------");
  EXPECT_EQ(circuit.state(), CircuitState::closed)
      << "the displayed state must match the behaviour";
  circuit.breaker.force_open(circuit.now, std::nullopt);
  EXPECT_TRUE(circuit.acquire());
  circuit.fail();

  circuit.policy.enabled = true;
  circuit.calls("----");
  EXPECT_EQ(circuit.state(), CircuitState::closed) << "calls made while disabled do not count";
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

TEST(Breaker, RestoredCircuitContinues) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("----------");
  circuit.breaker = Breaker{circuit.breaker.record()};
  EXPECT_FALSE(circuit.acquire());
  circuit.now += 30s;
  EXPECT_TRUE(circuit.acquire());
  EXPECT_TRUE(circuit.acquire());

  circuit.breaker = Breaker{circuit.breaker.record()};
  EXPECT_EQ(circuit.state(), CircuitState::half_open);
  circuit.calls("--");
  EXPECT_EQ(open_for(circuit), 1min) << "the openings before the restart count";
}

TEST(Breaker, StoredSleepIsLimitedToTheLongestSleep) {  // P9
  Circuit circuit{BreakerPreset::standard};
  const WallTime wrong_clock = noon + 24h * 3650;
  circuit.breaker = Breaker{
      {.state = CircuitState::open, .changed_at = wrong_clock, .open_until = wrong_clock + 30s}};
  EXPECT_FALSE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), noon + 30min);
  circuit.now = noon + 30min;
  EXPECT_TRUE(circuit.acquire());
}

TEST(Breaker, OpenRecordWithoutAnEndProbesImmediately) {
  Circuit circuit{BreakerPreset::standard};
  circuit.breaker = Breaker{{.state = CircuitState::open, .changed_at = noon}};
  EXPECT_TRUE(circuit.acquire());
  EXPECT_EQ(circuit.state(), CircuitState::half_open);
}

TEST(Breaker, ReducingTheProbesDoesNotBlockTheCircuit) {
  Circuit circuit{BreakerPreset::standard};
  circuit.breaker = Breaker{{.state = CircuitState::half_open, .changed_at = noon}};
  circuit.calls("-+");
  ASSERT_EQ(circuit.state(), CircuitState::half_open);
  circuit.policy.half_open_max_calls = 1;
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), circuit.now);
  EXPECT_TRUE(circuit.acquire());
  EXPECT_EQ(circuit.state(), CircuitState::closed);
}

TEST(Breaker, ExtremePoliciesNeitherCrashNorBlockTheCircuit) {
  Circuit no_probes{BreakerPolicy{.half_open_max_calls = 0, .half_open_success_percentage = 0}};
  no_probes.breaker = Breaker{{.state = CircuitState::half_open, .changed_at = noon}};
  no_probes.calls("-");
  EXPECT_EQ(no_probes.state(), CircuitState::open) << "closing needs at least one success";

  Circuit over_hundred{BreakerPolicy{.half_open_success_percentage = 1e9}};
  over_hundred.breaker = Breaker{{.state = CircuitState::half_open, .changed_at = noon}};
  over_hundred.calls("+++");
  EXPECT_EQ(over_hundred.state(), CircuitState::closed);

  Circuit no_window{BreakerPolicy{.window_size = 0s, .minimum_throughput = 1}};
  no_window.calls("----------");
  EXPECT_EQ(no_window.state(), CircuitState::closed);

  Circuit zero_threshold{BreakerPolicy{.minimum_throughput = 0, .error_threshold_percentage = 0}};
  zero_threshold.calls("++++");
  EXPECT_EQ(zero_threshold.state(), CircuitState::closed) << "no failure, no opening";
  zero_threshold.calls("-");
  EXPECT_EQ(zero_threshold.state(), CircuitState::open);

  Circuit huge{BreakerPolicy{.window = BreakerWindow::count,
                             .window_calls = UINT32_MAX,
                             .minimum_throughput = UINT32_MAX,
                             .failure_count_threshold = UINT32_MAX}};
  for (std::uint32_t call = 0; call < breaker_calls_max - 1; ++call) {
    huge.calls("-");
  }
  EXPECT_EQ(huge.state(), CircuitState::closed);
  huge.calls("-");
  EXPECT_EQ(huge.state(), CircuitState::open)
      << "thresholds are limited to the calls that are kept";
}

}  // namespace
}  // namespace postrider
