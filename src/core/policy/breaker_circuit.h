// For tests: a breaker together with its policy and a manual clock.
#pragma once

#include <string_view>

#include <gtest/gtest.h>

#include "core/policy/breaker.h"

namespace postrider {

inline const WallTime noon = *parse_rfc3339("2026-01-31T12:00:00Z");

struct Circuit {
  BreakerPolicy policy;
  WallTime now = noon;
  Breaker breaker;

  explicit Circuit(BreakerPreset preset) : policy(breaker_policy(preset)) {}
  explicit Circuit(const BreakerPolicy& some_policy) : policy(some_policy) {}

  bool acquire() { return breaker.try_acquire(policy, now); }
  void succeed() { breaker.on_success(policy, now); }
  void fail() { breaker.on_failure(policy, now); }
  void time_out() { breaker.on_failure(policy, now, true); }

  /// Makes sequential calls, all at `now`: `+` succeeds, `-` fails, `t` times out.
  void calls(std::string_view results) {
    for (const char result : results) {
      ASSERT_TRUE(acquire()) << results;
      if (result == 't') {
        time_out();
      } else {
        result == '+' ? succeed() : fail();
      }
    }
  }

  CircuitState state() const { return breaker.state(); }
};

inline Millis open_for(const Circuit& circuit) {
  return *circuit.breaker.record().open_until - circuit.now;
}

}  // namespace postrider
