// The seeds that a simulation test runs: always the same ones, and fresh ones in every run, so that
// time finds bugs.
#pragma once

#include <cstdint>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace postrider::sim {

/// A simulated world has one thread, in which the thread sanitizer can find nothing. It only sees
/// that the world runs.
#ifdef __SANITIZE_THREAD__
constexpr int seed_share = 20;
#else
constexpr int seed_share = 1;
#endif

/// Runs `check` with the seeds 1, 2, … Stops after one that fails.
template <class Check>
void check_fixed_seeds(int count, Check check) {
  for (int seed = 1; seed <= count / seed_share; ++seed) {
    check(static_cast<std::uint64_t>(seed));
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

/// Runs `check` with random seeds, which are printed. Stops after one that fails.
template <class Check>
void check_fresh_seeds(int count, Check check) {
  std::random_device entropy;
  for (int i = 0; i < count; i += seed_share) {
    const std::uint64_t seed = entropy();
    fmt::print("fresh seed {}\n", seed);
    check(seed);
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

}  // namespace postrider::sim
