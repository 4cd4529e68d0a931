#include "tests/simulation/lease_scenario.h"

#include <chrono>

#include "core/base/random.h"

namespace postrider::sim {
namespace {

/// Zero in half of the scenarios.
std::uint32_t some(SplitMix64& random, std::uint32_t max) {
  return random.below(2) == 0 ? 0 : 1 + static_cast<std::uint32_t>(random.below(max));
}

}  // namespace

LeaseScenario make_lease_scenario(std::uint64_t seed) {
  SplitMix64 random{seed};
  LeaseScenario scenario{.seed = seed};
  scenario.nodes = 1 + static_cast<std::uint32_t>(random.below(5));
  scenario.trouble_time = std::chrono::seconds{60 + random.below(240)};
  scenario.drift_max = random.below(2) == 0 ? 0 : random.draw() * 0.02;
  scenario.lost_requests = some(random, 200);
  scenario.lost_answers = some(random, 200);
  scenario.late_requests = some(random, 100);
  scenario.late_answers = some(random, 100);
  scenario.pauses = some(random, 15);
  scenario.partitions = some(random, 10);
  scenario.outages = some(random, 4);
  scenario.crashes = some(random, 6);
  scenario.leaves = some(random, 6);
  scenario.joins = some(random, 8);
  scenario.clock_jumps = some(random, 12);
  return scenario;
}

}  // namespace postrider::sim
