#include "core/policy/breaker.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/policy/breaker_circuit.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(BreakerPresets, MatchTheDocumentedTable) {
  EXPECT_EQ(breaker_policy(BreakerPreset::standard), BreakerPolicy{});
  EXPECT_EQ(breaker_policy(BreakerPreset::standard),
            (BreakerPolicy{.enabled = true,
                           .window = BreakerWindow::time,
                           .window_size = 60s,
                           .window_calls = 10,
                           .minimum_throughput = 10,
                           .error_threshold_percentage = 50,
                           .failure_count_threshold = 0,
                           .consecutive_failure_threshold = 5,
                           .sleep_window = 30s,
                           .sleep_multiplier = 2.0,
                           .sleep_max = 30min,
                           .half_open_max_calls = 3,
                           .half_open_success_percentage = 50}));
  EXPECT_EQ(breaker_policy(BreakerPreset::patient),
            (BreakerPolicy{.window = BreakerWindow::count,
                           .window_calls = 10,
                           .minimum_throughput = 10,
                           .error_threshold_percentage = 50,
                           .consecutive_failure_threshold = 0,
                           .sleep_window = 1h,
                           .sleep_multiplier = 2.0,
                           .sleep_max = 24h,
                           .half_open_max_calls = 3,
                           .half_open_success_percentage = 100}));
  EXPECT_EQ(breaker_policy(BreakerPreset::sensitive),
            (BreakerPolicy{.window = BreakerWindow::time,
                           .window_size = 60s,
                           .minimum_throughput = 1,
                           .failure_count_threshold = 5,
                           .consecutive_failure_threshold = 0,
                           .sleep_window = 5min,
                           .sleep_multiplier = 1.0,
                           .sleep_max = 5min,
                           .half_open_max_calls = 1,
                           .half_open_success_percentage = 100}));
}

TEST(Breaker, StandardOpensIfHalfOfTenCallsPerMinuteFail) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("---------");
  EXPECT_EQ(circuit.state(), CircuitState::closed) << "nine calls are too few";
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open);
  EXPECT_EQ(circuit.breaker.record().changed_at, noon);

  Circuit exactly_half{BreakerPreset::standard};
  exactly_half.calls("+++++----");
  EXPECT_EQ(exactly_half.state(), CircuitState::closed);
  exactly_half.calls("-");
  EXPECT_EQ(exactly_half.state(), CircuitState::open);

  Circuit below_half{BreakerPreset::standard};
  below_half.calls("++++++----");
  EXPECT_EQ(below_half.state(), CircuitState::closed);
}

TEST(Breaker, ReachingTheMinimumThroughputWithASuccessCanOpen) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("---------+");
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

TEST(Breaker, OldCallsLeaveTheTimeWindow) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("---------");
  circuit.now += 60s;
  circuit.calls("---------");
  EXPECT_EQ(circuit.state(), CircuitState::closed) << "the first nine are a minute old";

  circuit.now += 60s - 1ms;
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open) << "the second nine are not quite";
}

TEST(Breaker, PatientUsesTheLastTenCallsOfAnyAge) {
  Circuit circuit{BreakerPreset::patient};
  circuit.calls("----");
  circuit.now += 24h * 365;
  circuit.calls("+++++");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open);
  EXPECT_EQ(open_for(circuit), 1h);

  Circuit healed{BreakerPreset::patient};
  healed.calls("----++++++++++----");
  EXPECT_EQ(healed.state(), CircuitState::closed) << "the first four have left the window";
  healed.calls("-");
  EXPECT_EQ(healed.state(), CircuitState::open);
}

TEST(Breaker, SensitiveOpensAtTheFifthFailureInAMinute) {
  Circuit circuit{BreakerPreset::sensitive};
  circuit.calls("----");
  for (int i = 0; i < 500; ++i) {
    circuit.calls("+");
  }
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open);
  EXPECT_EQ(open_for(circuit), 5min);
}

TEST(Breaker, OpenCircuitSendsNothingUntilItsSleepIsOver) {  // P7
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("----------");
  EXPECT_FALSE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), noon + 30s);

  circuit.now = noon + 30s - 1ms;
  EXPECT_FALSE(circuit.acquire());
  circuit.now = noon + 30s;
  EXPECT_TRUE(circuit.acquire());
  EXPECT_EQ(circuit.state(), CircuitState::half_open);
  EXPECT_EQ(circuit.breaker.record().changed_at, noon + 30s);
  EXPECT_EQ(circuit.breaker.record().open_until, std::nullopt);
}

TEST(Breaker, HalfOpenAllowsThreeProbes) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("----------");
  circuit.now += 30s;
  EXPECT_TRUE(circuit.acquire());
  EXPECT_TRUE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), circuit.now);
  EXPECT_TRUE(circuit.acquire());
  EXPECT_FALSE(circuit.acquire());
  EXPECT_EQ(circuit.breaker.retry_at(circuit.policy, circuit.now), std::nullopt);

  circuit.breaker.on_abandoned();
  EXPECT_TRUE(circuit.acquire()) << "an abandoned probe may be repeated";
  circuit.succeed();
  EXPECT_FALSE(circuit.acquire()) << "a completed probe may not";
}

TEST(Breaker, HalfOpenEndsAsSoonAsTheOutcomeIsCertain) {
  struct Case {
    BreakerPreset preset;
    std::string_view probes;
    CircuitState want;
  };
  const Case cases[] = {
      {BreakerPreset::standard, "+", CircuitState::half_open},
      {BreakerPreset::standard, "-", CircuitState::half_open},
      {BreakerPreset::standard, "++", CircuitState::closed},
      {BreakerPreset::standard, "-+", CircuitState::half_open},
      {BreakerPreset::standard, "+-+", CircuitState::closed},
      {BreakerPreset::standard, "+--", CircuitState::open},
      {BreakerPreset::standard, "--", CircuitState::open},
      {BreakerPreset::patient, "++", CircuitState::half_open},
      {BreakerPreset::patient, "+++", CircuitState::closed},
      {BreakerPreset::patient, "-", CircuitState::open},
      {BreakerPreset::patient, "++-", CircuitState::open},
      {BreakerPreset::sensitive, "+", CircuitState::closed},
      {BreakerPreset::sensitive, "-", CircuitState::open},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string{to_string(c.preset)} + " " + std::string{c.probes});
    Circuit circuit{c.preset};
    circuit.breaker =
        Breaker{{.state = CircuitState::open, .changed_at = noon, .open_until = noon}};
    circuit.calls(c.probes);
    EXPECT_EQ(circuit.state(), c.want);
  }
}

TEST(Breaker, ConsecutiveOpeningsSleepLongerUpToTheMaximum) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("----------");
  const Millis sleeps[] = {30s, 1min, 2min, 4min, 8min, 16min, 30min, 30min};
  std::uint32_t openings = 0;
  for (const Millis sleep : sleeps) {
    EXPECT_EQ(open_for(circuit), sleep);
    EXPECT_EQ(circuit.breaker.record().openings_in_row, ++openings);
    circuit.now += sleep;
    circuit.calls("--");
    ASSERT_EQ(circuit.state(), CircuitState::open);
  }

  circuit.now += 30min;
  circuit.calls("++");
  EXPECT_EQ(circuit.breaker.record(), (CircuitRecord{.state = CircuitState::closed,
                                                     .changed_at = circuit.now,
                                                     .counting_since = circuit.now,
                                                     .opened_at = circuit.now - 30min,
                                                     .times_opened = 9}));
  circuit.calls("----------");
  EXPECT_EQ(open_for(circuit), 30s) << "a recovery restarts the growth";
}

TEST(Breaker, OpeningCountSaturates) {
  Circuit circuit{BreakerPreset::standard};
  circuit.breaker = Breaker{
      {.state = CircuitState::half_open, .openings_in_row = UINT32_MAX, .changed_at = noon}};
  circuit.calls("--");
  EXPECT_EQ(circuit.breaker.record().openings_in_row, UINT32_MAX);
  EXPECT_EQ(open_for(circuit), 30min);
}

TEST(Breaker, ClosingClearsTheWindow) {
  Circuit circuit{BreakerPreset::sensitive};
  circuit.policy.sleep_window = circuit.policy.sleep_max = 1s;
  circuit.calls("-----");
  circuit.now += 1s;
  circuit.calls("+----");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

TEST(Breaker, WindowKeepsTheLastThousandCalls) {
  Circuit circuit{BreakerPreset::standard};
  for (int call = 0; call < 5'000; ++call) {
    circuit.calls("+");
  }
  for (int call = 0; call < 499; ++call) {
    circuit.calls("-");
  }
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("-");
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

/// Compares the window with a model that recounts the history of all calls.
RC_GTEST_PROP(Breaker, OpensExactlyIfTheWindowExceedsTheThreshold, ()) {
  const BreakerPolicy policy{
      .window = *rc::gen::element(BreakerWindow::time, BreakerWindow::count),
      .window_size = Millis{*rc::gen::inRange<std::int64_t>(1, 100)},
      .window_calls = *rc::gen::inRange<std::uint32_t>(1, 20),
      .minimum_throughput = *rc::gen::inRange<std::uint32_t>(1, 12),
      .error_threshold_percentage = static_cast<double>(*rc::gen::inRange(1, 101)),
      .failure_count_threshold = *rc::gen::inRange<std::uint32_t>(0, 6)};
  const auto script = *rc::gen::container<std::vector<std::pair<std::int64_t, bool>>>(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(0, 20), rc::gen::arbitrary<bool>()));

  Circuit circuit{policy};
  std::vector<std::pair<WallTime, bool>> history;
  for (const auto& [pause, failed] : script) {
    circuit.now += Millis{pause};
    RC_ASSERT(circuit.acquire());
    failed ? circuit.fail() : circuit.succeed();
    history.emplace_back(circuit.now, failed);

    std::uint32_t calls = 0;
    std::uint32_t failures = 0;
    for (auto call = history.rbegin(); call != history.rend(); ++call) {
      const bool inside = policy.window == BreakerWindow::time
                              ? circuit.now - call->first < policy.window_size
                              : calls < policy.window_calls;
      calls += inside ? 1 : 0;
      failures += inside && call->second ? 1 : 0;
    }
    const bool over =
        policy.failure_count_threshold > 0
            ? failures >= policy.failure_count_threshold
            : failures > 0 && failures * 100.0 / calls >= policy.error_threshold_percentage;
    const bool open = calls >= policy.minimum_throughput && over;
    RC_ASSERT((circuit.state() == CircuitState::open) == open);
    if (open) {
      return;
    }
  }
}

// ---------------------------------------------------------------- timeouts in a row

TEST(BreakerTimeouts, OpenTheCircuitWithoutTheMinimumOfCalls) {
  Circuit circuit{BreakerPreset::standard};
  for (int i = 0; i < 4; ++i) {
    circuit.calls("t");
    circuit.now += 10min;  // Never two calls in one window.
  }
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("t");
  EXPECT_EQ(circuit.state(), CircuitState::open);
  EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).timeouts_in_row, 5u);
}

TEST(BreakerTimeouts, AnyAnswerEndsTheRow) {
  Circuit circuit{BreakerPreset::standard};
  for (const char answer : {'+', '-'}) {
    circuit.calls("tttt");
    circuit.calls(std::string(1, answer));
    EXPECT_EQ(circuit.breaker.window(circuit.policy, circuit.now).timeouts_in_row, 0u);
    circuit.now += 10min;
  }
  EXPECT_EQ(circuit.state(), CircuitState::closed);
}

TEST(BreakerTimeouts, CountFromTheBeginningAfterTheCircuitHasClosed) {
  Circuit circuit{BreakerPreset::standard};
  circuit.calls("ttttt");
  circuit.now += 30s;
  circuit.calls("++");
  ASSERT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("tttt");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
  circuit.calls("t");
  EXPECT_EQ(circuit.state(), CircuitState::open);
}

TEST(BreakerTimeouts, DoNotMatterIfTheThresholdIsZeroOrTheBreakerIsOff) {
  for (const bool enabled : {true, false}) {
    Circuit circuit{BreakerPreset::standard};
    circuit.policy.enabled = enabled;
    circuit.policy.consecutive_failure_threshold = enabled ? 0 : 1;
    for (int i = 0; i < 9; ++i) {
      circuit.calls("t");
      circuit.now += 10min;
    }
    EXPECT_EQ(circuit.state(), CircuitState::closed);
  }
  EXPECT_EQ(breaker_policy(BreakerPreset::patient).consecutive_failure_threshold, 0u);
  EXPECT_EQ(breaker_policy(BreakerPreset::sensitive).consecutive_failure_threshold, 0u);
}

TEST(BreakerTimeouts, DoNotOpenACircuitThatIsForcedClosed) {
  Circuit circuit{BreakerPreset::standard};
  circuit.breaker.force_close(circuit.now, std::nullopt);
  circuit.calls("tttttttt");
  EXPECT_EQ(circuit.state(), CircuitState::closed);
}

}  // namespace
}  // namespace postrider
